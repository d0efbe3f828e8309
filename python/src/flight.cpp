#include "flight.hpp"

#include "calls.hpp"

#include <atomic>

namespace trine::python {
namespace {

std::atomic<int> in_flight{0};  ///< changed only with the interpreter's lock held
std::atomic<bool> ending{false};

}  // namespace

Flight::Flight() {
  // While the lock is held, so that no other thread forks before the backends are loaded: the child
  // would wait for ever for the loading thread, which it doesn't have.
  static const size_t loaded = backends().size();
  static_cast<void>(loaded);
  if (ending)
    throw Error(Status::unsupported, "The interpreter is ending; no call begins any more.");
  ++in_flight;
  interpreter_ = PyEval_SaveThread();
}

Flight::~Flight() {
  PyEval_RestoreThread(interpreter_);
  --in_flight;
  in_flight.notify_all();
}

void finish_calls() {
  ending = true;
  const nanobind::gil_scoped_release released;
  while (const int now = in_flight) in_flight.wait(now);
}

void forget_calls() { in_flight = 0; }

}  // namespace trine::python
