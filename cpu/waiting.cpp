// How threads wait for the executor: asleep, or lending themselves to its loops (lending.hpp).
#include <hwy/cache_control.h>

#include <chrono>

#include "executor.hpp"

namespace trine::cpu {
namespace {
using Clock = std::chrono::steady_clock;
}

// Under the lock.
void Executor::tell_waiters() {
  changes_.fetch_add(1, std::memory_order_release);
  if (waiters_ > 0) finished_.notify_all();
}

// Waits until `done`, which is asked under the lock. One of those who wait for `work` takes part meanwhile;
// another does when that one sleeps or leaves.
template <class Done>
void Executor::wait_until(std::unique_lock<std::mutex>& lock, bool work, Done done) {
  if (done()) return;
  ++waiters_;
  while (!done()) {
    const std::uint64_t seen = changes_;
    if (work && lends_ && !lent_) {
      lent_ = true;
      lock.unlock();
      lend_itself(seen);
      lock.lock();
      lent_ = false;
      if (changes_ != seen) continue;
      sleeps_ = true;
      if (lending_.offers()) continue;  // since it gave up
    }
    finished_.wait(lock);
  }
  --waiters_;
  if (waiters_ > 0 && lends_) finished_.notify_all();  // the place is free
}

// Takes pieces of loops as they come, until something has changed or none came for a while.
void Executor::lend_itself(std::uint64_t seen) {
  constexpr std::chrono::microseconds kPatience{200};
  const auto changed = [&] { return changes_.load(std::memory_order_acquire) != seen; };
  Clock::time_point since = Clock::now();
  while (!changed()) {
    if (lending_.help(changed)) {
      since = Clock::now();
    } else if (Clock::now() - since > kPatience) {
      return;
    }
    hwy::Pause();
  }
}

void Executor::offer(Loop& loop, int thread) {
  lending_.offer(loop, thread);
  if (!sleeps_.exchange(false)) return;
  { const std::lock_guard guard(lock_); }  // who is about to sleep, sleeps
  finished_.notify_all();
}

void Executor::queue_wait(Queue* queue) {
  std::unique_lock lock(lock_);
  wait_until(lock, true, [&] { return !queue->scheduled; });
}

void Executor::wait(Mark* mark) {
  std::unique_lock lock(lock_);
  ++mark->references;
  wait_until(lock, !mark->promised, [&] { return mark->done; });
  drop(mark);
}

}  // namespace trine::cpu
