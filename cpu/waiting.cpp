// How threads wait for the executor: asleep, or taking part in its loops
// (caller_participation.hpp).
#include <hwy/cache_control.h>
#include <sched.h>

#include <chrono>
#include <thread>
#include <utility>

#include "executor.hpp"

namespace trine::cpu {
// Under the lock.
void Executor::tell_waiters() {
  changes_.fetch_add(1, std::memory_order_release);
  if (waiters_ > 0) finished_.notify_all();
}

// Waits until `done`, which is asked under the lock. One of those who wait for `work` begins it or
// takes part meanwhile; another does when that one sleeps or leaves.
template <class Done>
void Executor::wait_until(std::unique_lock<std::mutex>& lock, bool work, Done done) {
  constexpr auto kPatience = std::chrono::microseconds(200);
  if (done()) return;
  ++waiters_;
  while (!done()) {
    if (work && lends_ && !lent_) {
      lent_ = true;
      const bool begins = may_begin();
      if (begins) run_next(lock, true);
      const bool again = begins || (shares() && take_part(waiter_, kPatience, lock));
      lent_ = false;
      if (again) continue;
    }
    finished_.wait(lock);
  }
  --waiters_;
  if (waiters_ > 0 && lends_) finished_.notify_all();  // the place is free
}

// Takes part in loops as they come, until something has changed, or none came for `patience`, or
// others want this core: then false, and the caller sleeps without letting go of the lock before.
bool Executor::take_part(Helper& helper, Clock::duration patience,
                         std::unique_lock<std::mutex>& lock) {
  const std::uint64_t seen = changes_;
  const auto changed = [&] { return changes_.load(std::memory_order_acquire) != seen; };
  const int taken = callers_cpu_;
  lock.unlock();
  const bool is_thread = &helper == &thread_;
  if (is_thread && sched_getcpu() == taken) leave_cpu(taken);
  // Makes a thread of the pool leave this core.
  if (cores_ && is_thread) cores_->move_if_shared(0);
  if (cores_ && !is_thread) cores_->occupy(threads_ - 1);
  const auto helps = [&] { return changed() || helper.participation.help(changed); };
  while (!changed() && watch(patience, helps)) {}
  // The thread that made the change keeps the lock for some instructions more: a sleeping thread
  // would lose 10 us.
  constexpr int kSpins = 1000;
  for (int i = 0; i < kSpins && !lock.try_lock(); ++i) hwy::Pause();
  if (!lock) lock.lock();
  if (changed()) return true;
  helper.sleeps = true;
  return helper.participation.offers();  // since it gave up
}

// Waits for work, or to take part in a waiter's: watches for a moment, then sleeps. On an idle core
// a thread takes 20 to 60 us to wake, so if the last two long pauses were alike, it wakes up by
// itself before this one should end, and watches again: less than 1 ms in a pause in all.
void Executor::pause(std::unique_lock<std::mutex>& lock) {
  if (!shares()) return work_.wait(lock);
  const auto begin = Clock::now();
  if (take_part(thread_, kFirstWatch, lock)) return;
  const std::uint64_t seen = changes_;  // a change at the very end of the sleep is one, too
  const auto last = pauses_[0], early = last / 32 + std::chrono::microseconds(150);
  const bool alike = std::chrono::abs(pauses_[1] - last) < last / 8;
  if (alike && work_.wait_until(lock, begin + last - early) == std::cv_status::timeout) {
    thread_.sleeps = false;
    if (changes_ == seen && pool_) pool_->expect();
    if (changes_ == seen && !take_part(thread_, kSecondWatch, lock)) work_.wait(lock);
  } else if (!alike) {
    work_.wait(lock);
  }
  thread_.sleeps = false;
  pauses_[1] = std::exchange(pauses_[0], Clock::now() - begin);
}

void Executor::offer(Helper& helper, Loop& loop, int number) {
  helper.participation.offer(loop, number);
  if (!helper.sleeps.exchange(false)) return;
  { const std::lock_guard guard(lock_); }  // threads that were about to sleep are asleep
  helper.alarm.notify_all();
}

void Executor::queue_wait(Queue* queue) {
  // Without the lock: core calls a queue's functions one after the other, and `failure` is set
  // before `scheduled` falls.
  if (!queue->scheduled && queue->failure == TRINE_OK) return;
  const kit::FloatEnvironment environment;  // of work that this thread begins
  std::unique_lock lock(lock_);
  wait_until(lock, true, [&] { return !queue->scheduled; });
  if (queue->failure == TRINE_OK) return;
  kit::fail(std::exchange(queue->failure, TRINE_OK), "%s", queue->why);
}

void Executor::wait(const Mark& mark) {
  std::unique_lock lock(lock_);
  wait_until(lock, !mark.promised, [&] { return mark.done; });
}

}  // namespace trine::cpu
