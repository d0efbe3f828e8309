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

// Waits until `done`, which is asked under the lock. The first to wait for `work` takes part meanwhile.
template <class Done>
void Executor::wait_until(std::unique_lock<std::mutex>& lock, bool work, Done done) {
  if (done()) return;
  ++waiters_;
  const bool lends = work && threads_ > 1 && !lent_;
  if (lends) lent_ = true;
  while (!done()) {
    const std::uint64_t seen = changes_;
    if (lends) {
      lock.unlock();
      const bool changed = lend_itself(seen);
      lock.lock();
      if (changed || changes_ != seen) continue;
      sleeps_ = true;
    }
    finished_.wait(lock);
    if (lends) sleeps_ = false;
  }
  if (lends) lent_ = false;
  --waiters_;
}

// Takes pieces of loops as they come, until something has changed; false when none came for a while.
bool Executor::lend_itself(std::uint64_t seen) {
  constexpr std::chrono::microseconds kPatience{200};
  const auto changed = [&] { return changes_.load(std::memory_order_acquire) != seen; };
  Clock::time_point since = Clock::now();
  while (!changed()) {
    if (lending_.help(changed)) {
      since = Clock::now();
    } else if (Clock::now() - since > kPatience) {
      return false;
    }
    hwy::Pause();
  }
  return true;
}

void Executor::offer(Loop& loop, int thread) {
  lending_.offer(loop, thread);
  if (sleeps_) finished_.notify_all();  // missed at worst: the loop is done without it
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
