/// Queues and events: asynchronous on every backend, the CPU's too.
///
/// Thread safety: all members may be called from any thread; calls on one queue are serialised.
/// Work on one queue runs in the order of the calls. Handles are cheap copies of one object.
#pragma once

#include <trine/device.hpp>

namespace trine {

namespace detail {
struct QueueState;
struct EventState;
}  // namespace detail

/// A moment in a queue. Outlives the queue it was recorded on.
class TRINE_API Event {
 public:
  Event() = default;  ///< no moment: done, and waited for at once
  bool done() const;  ///< throws what the work before it threw
  void wait() const;  ///< blocks the caller

  /// Device time between two moments of one device, in seconds; waits for both. Throws
  /// invalid_argument for moments of different devices.
  friend TRINE_API double elapsed(const Event& start, const Event& stop);

 private:
  friend struct detail::Access;
  std::shared_ptr<detail::EventState> state_;
};
TRINE_API double elapsed(const Event& start, const Event& stop);

class TRINE_API Queue {
 public:
  Queue() = default;  ///< no queue; every use throws invalid_argument
  explicit Queue(const Device& device);
  /// Uses the caller's cudaStream_t / CUstream or in-order cl_command_queue (of any context). It is
  /// never destroyed by us and must outlive the last wait(): after that, buffers used there and the
  /// Queue itself may go later than it, and what the program itself enqueues there is not waited for.
  /// The cpu has no native queue. A cl_command_queue takes memory of its own context only: where
  /// that isn't the device's (Device::native()), adopt cl_mems of it; other buffers are refused.
  static Queue adopt(const Device& device, void* native);

  explicit operator bool() const noexcept { return state_ != nullptr; }
  Device device() const;
  void* native() const;  ///< CUstream, cl_command_queue, or nullptr
  void flush();          ///< hands what was enqueued to the device
  /// Blocks until all work is done. Throws Error naming the operations since the last good wait if
  /// any failed.
  void wait();
  bool done();  ///< nothing in flight?
  /// A moment after all work enqueued so far.
  Event record();
  /// Work enqueued from now on waits for `event`, of any queue of any backend; the caller does not.
  void wait(const Event& event);

 private:
  friend struct detail::Access;
  std::shared_ptr<detail::QueueState> state_;
};

}  // namespace trine
