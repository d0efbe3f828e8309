// How threads wait for the executor: asleep, or taking part in its loops (caller_participation.hpp).
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

// Waits until `done`, which is asked under the lock. One of those who wait for `work` begins it or takes
// part meanwhile; another does when that one sleeps or leaves.
template <class Done>
void Executor::wait_until(std::unique_lock<std::mutex>& lock, bool work, Done done) {
  constexpr double kPatience = 200e3;
  if (done()) return;
  ++waiters_;
  while (!done()) {
    if (work && lends_ && !lent_) {
      lent_ = true;
      const bool begins = may_begin();
      if (begins) run_next(lock, true);
      const bool again = begins || take_part(waiter_, kPatience, lock);
      lent_ = false;
      if (again) continue;
    }
    finished_.wait(lock);
  }
  --waiters_;
  if (waiters_ > 0 && lends_) finished_.notify_all();  // the place is free
}

// Takes part in loops as they come, until something has changed, or none came for `patience` ns: then
// false, and the caller sleeps without letting go of the lock before.
bool Executor::take_part(Helper& helper, double patience, std::unique_lock<std::mutex>& lock) {
  const std::uint64_t seen = changes_;
  const auto changed = [&] { return changes_.load(std::memory_order_acquire) != seen; };
  lock.unlock();
  for (Clock::time_point since = Clock::now(); !changed();) {
    if (helper.participation.help(helper.take, changed)) {
      since = Clock::now();
    } else if (Clock::now() - since > std::chrono::duration<double, std::nano>(patience)) {
      break;
    }
    hwy::Pause();
  }
  // Who made the change has the lock for some instructions more: asleep, this thread would lose 10 us.
  constexpr int kSpins = 1000;
  for (int i = 0; i < kSpins && !lock.try_lock(); ++i) hwy::Pause();
  if (!lock) lock.lock();
  if (changed()) return true;
  helper.sleeps = true;
  return helper.participation.offers();  // since it gave up
}

void Executor::offer(Helper& helper, Loop& loop, int number) {
  helper.participation.offer(loop, number);
  if (!helper.sleeps.exchange(false)) return;
  { const std::lock_guard guard(lock_); }  // who is about to sleep, sleeps
  helper.alarm.notify_all();
}

void Executor::queue_wait(Queue* queue) {
  std::unique_lock lock(lock_);
  wait_until(lock, true, [&] { return !queue->scheduled; });
}

void Executor::wait(const Mark& mark) {
  std::unique_lock lock(lock_);
  wait_until(lock, !mark.promised, [&] { return mark.done; });
}

}  // namespace trine::cpu
