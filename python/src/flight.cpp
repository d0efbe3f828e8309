#include "flight.hpp"

#include "calls.hpp"

#include <unistd.h>

#include <atomic>
#include <thread>

namespace trine::python {
namespace {

std::atomic<int> in_flight{0};  ///< changed only with the interpreter's lock held
std::atomic<bool> ending{false};
std::thread::id ender;  ///< set before `ending`

}  // namespace

Flight::Flight() {
  if (ending) {
    if (std::this_thread::get_id() == ender)
      throw Error(Status::unsupported, "The interpreter is ending; no call begins any more.");
    // A daemon thread, which the process's end is about to end. If it printed an error,
    // that could be in the way of the interpreter's last flush, which is fatal; so it stays here,
    // as CPython's own waiters do.
    PyEval_SaveThread();
    for (;;) pause();
  }
  ++in_flight;
  interpreter_ = PyEval_SaveThread();
}

Flight::~Flight() {
  PyEval_RestoreThread(interpreter_);
  --in_flight;
  in_flight.notify_all();
}

void finish_calls() {
  ender = std::this_thread::get_id();
  ending = true;
  const nanobind::gil_scoped_release released;
  while (const int now = in_flight) in_flight.wait(now);
}

void forget_calls() { in_flight = 0; }

}  // namespace trine::python
