// A thread that waits for a queue participates in the work that it waits for: it takes chunks of
// the running loop like a thread of the pool, so the device has one thread less of its own. If the
// caller has begun that work itself, the executor's thread participates in the same way.
//
// Why: idle threads watch for work on all cores for a while. A caller that slept would wait until
// the scheduler interrupts one of them, a time slice of 3 to 5 ms for calls of 100 us (measured in
// docs/decisions/the-caller-participates.md). So one core is always left for the caller, and
// usually it hasn't slept at all.
#pragma once

#include <hwy/cache_control.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <span>
#include <thread>

#include "backends/kit/float_environment.hpp"
#include "rung.hpp"

namespace trine::cpu {

// A loop's chunks, in parts. A thread takes the chunks of its own part one after the other, then
// those that are left in other parts. If one throws, no more are begun.
class Loop {
 public:
  // Each part has a line of memory of its own.
  struct alignas(64) Part {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };

  // One part, of all.
  Loop(std::int64_t count, Parallel::RunChunk run_chunk, void* body)
      : Loop(count, run_chunk, body, {&all_, 1}) {}
  // `parts`: of threads 0, 1 … each.
  Loop(std::int64_t count, Parallel::RunChunk run_chunk, void* body, std::span<Part> parts)
      : run_chunk_(run_chunk), body_(body), parts_(parts) {
    std::int64_t begin = 0, t = 0;
    for (Part& part : parts) {
      part.next.store(begin, std::memory_order_relaxed);
      part.end = begin = count * ++t / static_cast<std::int64_t>(parts.size());
    }
  }

  void take_chunks(int thread) {
    const kit::FloatEnvironment environment;
    const std::size_t own = std::min(static_cast<std::size_t>(thread), parts_.size() - 1);
    try {
      for (std::size_t i = 0; i < parts_.size(); ++i)
        take(parts_[(own + i) % parts_.size()], thread);
    } catch (...) {
      for (Part& part : parts_) part.next = part.end;
      if (!has_failed_.exchange(true)) failure_ = std::current_exception();
    }
  }
  // Called when all threads have left the loop: throws the error of the first chunk that failed.
  void end() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  // Reads before it counts, because cache lines that nobody writes stay in all caches.
  void take(Part& part, int thread) {
    while (part.next.load(std::memory_order_relaxed) < part.end) {
      const std::int64_t chunk = part.next.fetch_add(1);
      if (chunk < part.end) run_chunk_(body_, chunk, thread);
    }
  }

  Parallel::RunChunk run_chunk_;
  void* body_;
  Part all_;
  std::span<Part> parts_;
  std::atomic<bool> has_failed_{false};
  std::exception_ptr failure_;
};

// Waits for the end of what other threads have begun: it spins first, as OpenMP's barriers do,
// because falling asleep and being woken takes longer than most loops.
template <class Ready>
void spin_until(Ready ready) {
  constexpr int kSpins = 1000;
  for (int i = 0; !ready(); ++i) i < kSpins ? hwy::Pause() : std::this_thread::yield();
}

// The place for one thread that takes part. Loops are offered one at a time.
class CallerParticipation {
 public:
  // `number`: the index of the thread that takes part.
  void offer(Loop& loop, int number) {
    number_ = number;
    loop_.store(&loop);
  }
  bool offers() const { return loop_.load() != nullptr; }

  // No thread may enter any more; returns when the one inside has left.
  void withdraw() {
    if (loop_.exchange(nullptr, std::memory_order_acq_rel)) return;
    spin_until([&] { return left_.load(std::memory_order_acquire); });
    left_.store(false, std::memory_order_relaxed);
  }

  // Takes part in the loop that is offered; false if there is none. `free`: the event that it waits
  // for may have happened, so that it needn't take part in a later loop.
  template <class Free>
  bool help(Free free) {
    if (!loop_.load(std::memory_order_acquire) || free()) return false;
    Loop* const loop = loop_.exchange(nullptr, std::memory_order_acq_rel);
    if (!loop) return false;
    if (!free()) loop->take_chunks(number_);       // another loop meanwhile?
    left_.store(true, std::memory_order_release);  // from here on the loop may be gone
    return true;
  }

 private:
  std::atomic<Loop*> loop_{nullptr};
  std::atomic<bool> left_{false};
  int number_ = 0;
};

}  // namespace trine::cpu
