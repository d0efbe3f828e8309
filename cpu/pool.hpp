// The pool: the threads that take part in loops besides the executor's and a caller's. Each watches for a
// loop for a moment, then sleeps, so that no core is burnt for long: libgomp's own threads spin for milliseconds.
#pragma once

#include <hwy/cache_control.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "caller_participation.hpp"

namespace trine::cpu {

using Clock = std::chrono::steady_clock;

// How long a thread watches in a pause: at first, and once more when it has been woken because work is near.
// Together less than 1 ms.
constexpr std::chrono::microseconds kFirstWatch{300}, kSecondWatch{600};

// Asks ready() until it is: true. False if that takes longer than `patience`, or if others want this core.
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

class Pool {
 public:
  // Loops are offered one at a time. The first `wanted` threads take part, with the numbers from 1.
  void offer(Loop& loop, int wanted) {
    wanted_ = wanted;
    loop_.store(&loop);
    wake();
  }
  // No thread comes any more; returns when those that came have left.
  void withdraw() {
    loop_.store(nullptr);
    spin_until([&] { return inside_.load() == 0; });
  }
  // Work is here or near. Those that wake up wake others, so the caller soon goes on.
  void wake() {
    calls_.fetch_add(1);
    calls_.notify_one();
  }

  // The life of thread `number`; doesn't return.
  [[noreturn]] void serve(int number) {
    auto patience = kFirstWatch;
    for (;;) {
      const std::uint32_t seen = calls_.load();
      ++inside_;  // before it looks: who withdraws clears first, and then waits for who is inside
      Loop* const loop = loop_.load();
      if (loop) patience = kFirstWatch;
      if (loop && number <= wanted_) loop->take_pieces(number);
      --inside_;
      if (watch(patience, [&] { return calls_.load(std::memory_order_acquire) != seen; })) continue;
      calls_.wait(seen);
      patience = kSecondWatch;
      calls_.notify_one();
      calls_.notify_one();
    }
  }

 private:
  alignas(64) std::atomic<std::uint32_t> calls_{0};
  std::atomic<Loop*> loop_{nullptr};
  int wanted_ = 0;
  alignas(64) std::atomic<int> inside_{0};
};

}  // namespace trine::cpu
