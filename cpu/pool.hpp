// The pool: the threads that take part in loops besides the executor's and a caller's. Each watches
// for a loop for a moment, then sleeps, so that no core is burnt for long: OpenMP's threads spin
// for milliseconds.
#pragma once

#include <hwy/cache_control.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "backends/kit/host.hpp"
#include "caller_participation.hpp"
#include "cores.hpp"
#include "threads.hpp"

namespace trine::cpu {

using Clock = std::chrono::steady_clock;

// How long a thread watches in a pause: at first, and once more when it was woken because work is
// near. Together less than 1 ms.
constexpr std::chrono::microseconds kFirstWatch{300}, kSecondWatch{600};

// Asks ready() until it is: true. False if that takes longer than `patience`, or if others want
// this core.
template <class Ready>
bool watch(Clock::duration patience, Ready ready) {
  constexpr auto kTurn = std::chrono::microseconds(16);
  auto turn = Clock::now();
  const auto end = turn + patience;
  while (!ready()) {
    const auto now = Clock::now();
    if (now > end) return false;
    if (now - turn > kTurn) {
      std::this_thread::yield();
      turn = Clock::now();
      if (turn - now > kTurn) return false;  // another thread had its turn meanwhile
    }
    hwy::Pause();
  }
  return true;
}

// Its threads have numbers from 1. Each sleeps on a word of its own, so that only the threads that
// a loop wants wake. The caller wakes thread 1, and thread n wakes 2 n and 2 n + 1, so that the
// caller soon goes on.
class Pool : public kit::Allocated {
 public:
  // `cores`: all threads of loops.
  Pool(int threads, Cores& cores) : cores_(cores), places_(static_cast<std::size_t>(threads) + 1) {}

  // Starts the threads, for ever. Returns how many the process's limits admit.
  int start() {
    const int threads = static_cast<int>(places_.size()) - 1;
    for (int number = 1; number <= threads; ++number) {
      Place& place = places_[static_cast<std::size_t>(number)];
      place.pool = this;
      place.number = number;
      if (!start_thread(serve_place, &place)) return number - 1;
    }
    return threads;
  }

  // Loops are offered one at a time. The first `wanted` threads take part.
  void offer(Loop& loop, int wanted) {
    wanted_ = wanted;
    is_near_ = false;
    loop_ = &loop;
    call();
  }
  // No thread may enter any more; returns when those inside have left.
  void withdraw() {
    loop_ = nullptr;
    spin_until([&] { return inside_ == 0; });
  }
  // A loop will come soon that wants as many threads as the last one.
  void expect() {
    is_near_ = true;
    call();
  }

  // The life of thread `number`; doesn't return.
  [[noreturn]] void serve(int number) {
    for (;;) {
      const std::uint32_t seen = calls_;
      wake(2 * number);
      wake(2 * number + 1);
      cores_.move_if_shared(number);
      // Before it looks, because the offer is cleared before the wait for threads inside.
      ++inside_;
      if (Loop* const loop = loop_; loop && number <= wanted_) loop->take_chunks(number);
      --inside_;
      const auto is_called = [&] { return calls_ != seen && number <= wanted_; };
      if (watch(is_near_ ? kSecondWatch : kFirstWatch, is_called)) continue;
      std::atomic<int>& sleeps = places_[static_cast<std::size_t>(number)].sleeps;
      sleeps = 1;  // before it looks again, because a caller counts before it looks for sleepers
      if (!is_called()) sleeps.wait(1);
      sleeps = 0;
    }
  }

 private:
  struct alignas(64) Place {
    std::atomic<int> sleeps{0};
    Pool* pool = nullptr;
    int number = 0;
  };
  static void* serve_place(void* given) {
    const Place& place = *static_cast<Place*>(given);
    place.pool->serve(place.number);
  }

  void call() {
    ++calls_;
    wake(1);
  }
  void wake(int number) {
    if (number > wanted_) return;
    std::atomic<int>& sleeps = places_[static_cast<std::size_t>(number)].sleeps;
    if (sleeps == 1 && sleeps.exchange(0) == 1) sleeps.notify_one();
  }

  Cores& cores_;
  kit::Vector<Place> places_;
  alignas(64) std::atomic<std::uint32_t> calls_{0};
  std::atomic<Loop*> loop_{nullptr};
  std::atomic<int> wanted_{0};
  std::atomic<bool> is_near_{false};
  alignas(64) std::atomic<int> inside_{0};
};

}  // namespace trine::cpu
