#include "overlap.hpp"

#include <condition_variable>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

namespace trine::detail {
namespace {

/// Takes the chunks back, in a thread of its own: bringing and taking both block while bytes are moved.
class Taker {
 public:
  Taker(Lane& lane, const Stages& stages)
      : lane_(lane), stages_(stages), thread_([this] { run(); }) {}
  /// Early only where something failed: then at most the chunk that is on its way is still taken.
  ~Taker() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Taker(const Taker&) = delete;
  Taker& operator=(const Taker&) = delete;

  /// The next chunk may be taken after `computed`. Throws what taking an earlier one threw.
  void hand_over(Event computed) {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    computed_.push_back(std::move(computed));
    changed_.notify_one();
  }
  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || taken_ == stages_.chunks; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run() {
    try {
      for (int i = 0; i < stages_.chunks; ++i) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ended_ || static_cast<int>(computed_.size()) > i; });
        if (ended_) return;
        const Event computed = computed_[static_cast<std::size_t>(i)];
        lock.unlock();
        lane_.queue.wait(computed);
        stages_.take(lane_, i);
        lock.lock();
        taken_ = i + 1;
        changed_.notify_one();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_one();
    }
  }

  Lane& lane_;
  const Stages& stages_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Event> computed_;
  int taken_ = 0;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace

bool run_overlapped(Lane& in, Lane& kernel, Lane& out, const Stages& stages) {
  std::optional<Taker> taker;
  try {
    taker.emplace(out, stages);
  } catch (const std::system_error&) { return false; } catch (const std::bad_alloc&) {
    return false;
  }
  for (int i = 0; i < stages.chunks; ++i) {
    stages.bring(in, i);
    kernel.queue.wait(in.queue.record());
    in.queue.flush();
    stages.compute(kernel.queue, i);
    Event computed = kernel.queue.record();
    kernel.queue.flush();
    taker->hand_over(std::move(computed));
  }
  taker->finish();
  in.queue.wait();
  kernel.queue.wait();  // what failed in there, only its own wait tells
  out.queue.wait();
  return true;
}

}  // namespace trine::detail
