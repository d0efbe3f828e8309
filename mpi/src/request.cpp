// Calls that don't block: they wait in the channel's queue, and go on when the program asks for one
// of them.
#include <thread>
#include <utility>

#include "elementwise.hpp"
#include "partial_call.hpp"
#include "sum_call.hpp"

namespace trine::mpi {
Request::Request(std::shared_ptr<detail::Call> call) noexcept : call_(std::move(call)) {}

Request::Request(Request&&) noexcept = default;

Request& Request::operator=(Request&& other) noexcept {
  if (this == &other) return *this;
  Request before(std::move(*this));  // which waits
  call_ = std::move(other.call_);
  return *this;
}

Request::~Request() {
  try {
    wait();
  } catch (...) {}  // of a call whose end nobody asked for
}

bool Request::test() {
  if (!call_) return true;
  if (!call_->go_on()) return false;
  const std::shared_ptr<detail::Call> ended = std::exchange(call_, nullptr);
  if (ended->error()) detail::entry([&] { std::rethrow_exception(ended->error()); });
  return true;
}

void Request::wait() {
  while (!test()) std::this_thread::yield();
}

Request iallreduce(ExactSum& sum, MPI_Comm comm) {
  return detail::begin<detail::SumCall>(comm, sum);
}

Request ireduce(ExactSum& sum, int root, MPI_Comm comm) {
  using namespace detail;
  return begin<SumCall>(comm, sum, Asked::root_of(root));
}

Request iallreduce(Partial& partial, MPI_Comm comm) {
  using namespace detail;
  return begin<PartialCall>(comm, partial, Asked::everywhere);
}

Request ireduce(Partial& partial, int root, MPI_Comm comm) {
  using namespace detail;
  return begin<PartialCall>(comm, partial, Asked::root_of(root));
}

Request iallreduce(Function function, const ConstHostView& input, const HostView& output,
                   MPI_Comm comm, const HostOptions& options) {
  using namespace detail;
  return begin<Elementwise<OnHost>>(comm, function, input, output, Asked::everywhere, options);
}

Request ireduce(Function function, const ConstHostView& input, const HostView& output, int root,
                MPI_Comm comm, const HostOptions& options) {
  using namespace detail;
  return begin<Elementwise<OnHost>>(comm, function, input, output, Asked::root_of(root), options);
}

Request iallreduce(Function function, Queue& queue, const View& input, const View& output,
                   MPI_Comm comm, const QueueOptions& options) {
  using namespace detail;
  return begin<Elementwise<OnDevice>>(comm, function, input, output, Asked::everywhere,
                                      OnDevice::Options{queue, options, false});
}

Request ireduce(Function function, Queue& queue, const View& input, const View& output, int root,
                MPI_Comm comm, const QueueOptions& options) {
  using namespace detail;
  return begin<Elementwise<OnDevice>>(comm, function, input, output, Asked::root_of(root),
                                      OnDevice::Options{queue, options, false});
}

}  // namespace trine::mpi
