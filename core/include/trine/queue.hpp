/// Queues and events: the order of asynchronous work, on the CPU as on GPUs.
///
/// Work on one queue runs in the order of the calls, work on different queues concurrently. A call
/// that enqueues returns at once; wait() on the queue says when its results are there.
///
/// Thread safety: all members may be called from any thread. Calls on one queue run one after the
/// other, so a thread that enqueues while another thread is in wait() waits too.
/// Lifetime: handles are cheap copies of one object. Dropping the last handle never blocks: work in
/// flight goes on, and its resources are freed by later calls (docs/lifetimes.md).
#pragma once

#include <trine/device.hpp>

namespace trine {

namespace detail {
struct QueueState;
struct EventState;
}  // namespace detail

/// A point in the work of a queue, made by Queue::record(), or the end of a call on host data
/// (HostOptions::event). It may outlive its queue.
/// ```cpp
/// trine::Queue queue(trine::open("cpu"));
/// trine::Event start = queue.record();
/// // … operations on the queue …
/// trine::Event stop = queue.record();
/// std::cout << trine::elapsed(start, stop) * 1e6 << " us on the device\n";
/// ```
class TRINE_API Event {
 public:
  /// An empty event: done() is true, and wait() returns at once.
  Event() = default;
  /// Whether all work before the event has ended. Never blocks. Throws Error (backend_error or
  /// device_lost) if that work failed.
  bool done() const;
  /// Blocks the calling thread until all work before the event has ended. Throws as done().
  void wait() const;

  friend TRINE_API double elapsed(const Event& start, const Event& stop);

 private:
  friend struct detail::Access;
  std::shared_ptr<detail::EventState> state_;
};

/// The time in seconds from `start` to `stop` on the device's own clock. Waits for both events.
/// Throws Error (invalid_argument) for an empty event, one of a call on host data, and events of
/// different devices.
TRINE_API double elapsed(const Event& start, const Event& stop);

/// An in-order, asynchronous queue of work on one device.
/// ```cpp
/// trine::Device cpu = trine::open("cpu");
/// trine::Queue first(cpu), second(cpu);
/// trine::Event produced = first.record();
/// second.wait(produced);  // second's later work starts after first's work so far
/// second.wait();          // this thread blocks until second is empty
/// ```
class TRINE_API Queue {
 public:
  /// An empty handle. Every use of it throws Error (invalid_argument).
  Queue() = default;
  /// Makes a queue of `device`: a CUDA stream, an OpenCL command queue, or a queue of the cpu
  /// backend. Throws Error (out_of_memory, backend_error).
  explicit Queue(const Device& device);
  /// Uses the program's own queue, so that Trine's work runs in order with the program's.
  ///
  /// `native` is a cudaStream_t or CUstream (null is CUDA's default stream), or an in-order
  /// cl_command_queue of any context. The cpu has no native queue: unsupported.
  /// Trine never destroys `native`. It must exist until the last wait() on the Queue has returned;
  /// the Queue, and buffers that were used there, may be dropped after `native` is gone. Trine
  /// doesn't wait for what the program itself enqueues there.
  /// A cl_command_queue takes only memory of its own context. If that is not the context of
  /// Device::native(), give it cl_mems of its context with Buffer::adopt().
  /// A CUDA stream may be captured into a graph; docs/lifetimes.md has the conditions.
  static Queue adopt(const Device& device, void* native);

  /// Whether the handle refers to a queue.
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// The device of the queue.
  Device device() const;
  /// The CUstream or cl_command_queue, valid as long as the queue exists; null on the cpu.
  void* native() const;
  /// Makes sure that the device starts on what was enqueued. wait() and events do it themselves.
  void flush();
  /// Blocks the calling thread until all work on the queue has ended.
  /// Throws Error (backend_error, device_lost) if any of it failed, and names the operations that
  /// were enqueued since the last successful wait().
  void wait();
  /// Whether nothing is in flight. Never blocks; false while another thread uses the queue.
  bool done();
  /// The point after all work that was enqueued so far.
  Event record();
  /// Lets all work that is enqueued from now on wait for `event`, which may come from any queue of
  /// any backend. The calling thread does not wait.
  void wait(const Event& event);

 private:
  friend struct detail::Access;
  std::shared_ptr<detail::QueueState> state_;
};

}  // namespace trine
