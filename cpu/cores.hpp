// The core of each thread. The scheduler may put a thread that wakes on the core of another one
// that works, although other cores are idle: then few of the threads take part
// (docs/decisions/the-caller-participates.md).
#pragma once

#include <atomic>
#include <cstdint>

#include "backends/kit/host.hpp"

namespace trine::cpu {

// A core has one thread of ours, as far as we know. Nothing is pinned: the scheduler may move a
// thread afterwards. Limits: other processes are unknown; a core's hardware threads count as cores;
// a thread that sleeps keeps its core.
class Cores : public kit::Allocated {
 public:
  // Does nothing where there are more threads than cores.
  Cores(int threads, int cores);

  // The calling thread, which has this number, keeps its core; another thread on this core looks
  // for another one.
  void occupy(int number);
  // If another thread has this core, moves the calling thread to its last core or to one that
  // nobody has. Does nothing if it may run on fewer cores than there are threads.
  void move_if_shared(int number);

 private:
  bool is_of(std::int64_t cpu, int number) const;
  bool take(int cpu, int number);
  void leave(int number);

  kit::Vector<std::atomic<std::int64_t>> owners_;  // of each core, a thread's number; -1: nobody
  kit::Vector<std::int64_t> homes_;                // of each thread
};

}  // namespace trine::cpu
