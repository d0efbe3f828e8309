// Queues and events of the CPU, and the threads that do their work.
//
// A queue is a list of items in order. The executor's thread runs whichever queue is ready, one
// item at a time, and spreads each over the pool (pool.hpp); a caller that waits takes part in its
// loops (caller_participation.hpp). A caller that waits for what nobody has begun begins itself,
// and the executor's thread and the pool take part as soon as they are awake. A queue that waits
// for an event is not ready and holds no thread. Small work runs at once on the caller's thread
// when its queue is idle. Everything here is guarded by one lock, which is never held while work or
// a callback runs. Small work on a queue at rest takes no lock, nor does waiting for such a queue.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>

#include "backends/abi.h"
#include "backends/kit/error.hpp"
#include "backends/kit/host.hpp"
#include "pool.hpp"
#include "rung.hpp"
#include "threads.hpp"

namespace trine::cpu {

// This backend's build, in words: users of the executor need no Kokkos headers.
const char* kokkos_version();  // "3.4.1"
const char* cpu_build_line();  // the library's and Kokkos's versions, one line
const char* loops_words();     // whose threads run the loops of the other rungs

struct Queue;

// A function that a program wants called: in a queue's order, or when a mark has been passed.
struct Notice {
  void (*function)(void*);
  void* argument;
};
using Notices = kit::Vector<Notice>;

// A point in a queue's order, or a promise of the host: the state of an event since it was last
// recorded. Events and items share it.
struct Mark {
  bool done = false;
  bool promised = false;  // no queue passes it: the host does
  std::int64_t nanoseconds = 0;
  Queue* waiting = nullptr;  // queues whose front item waits for this mark
  Notices notices;
};
using SharedMark = std::shared_ptr<Mark>;

enum class ItemKind { kWork, kRecord, kWait };

// Copies of descriptors travel in the item, so that a launch allocates nothing in the steady state.
struct Item : kit::Allocated {
  static constexpr std::size_t kPayload = 512;
  Item* next = nullptr;
  ItemKind kind;
  SharedMark mark;
  void (*work)(void* payload, Parallel& parallel);
  bool executors_alone;  // foreign code and Kokkos, whose threads may belong to the one that calls
  alignas(64) std::byte payload[kPayload];
};

struct Queue : kit::Allocated {
  trine_status failure = TRINE_OK;  // of its work since the last wait, the first
  char why[kit::kErrorBytes];
  int threads = 1;      // the device's cap
  bool orphan = false;  // destroyed by its owner with work in flight
  // Whether it is in the ready list, runs, or waits for a mark. It is written under the lock, but a
  // queue at rest may be seen without the lock.
  std::atomic<bool> scheduled{false};
  Item* first = nullptr;
  Item* last = nullptr;
  Queue* next = nullptr;  // in the ready list or a mark's list
  Item* spare = nullptr;  // used items, kept
};

// The one of executor and waiter that takes part in the loops of the other.
struct Helper {
  std::condition_variable& alarm;  // what it sleeps on
  CallerParticipation participation;
  std::atomic<bool> sleeps{false};
};

class Executor : public kit::Allocated {
 public:
  // An executor without threads: the caller that makes an item ready runs it.
  Executor();
  // The process's executor, started by the first call; throws kit::Failure, which says what could
  // not start. In a child which was forked after this had begun, it has no threads: those of OpenMP
  // can't start there.
  static Executor* start();

  // The threads that a launch may use, a waiting caller's among them.
  int threads() const { return threads_; }
  // Whether a rung that runs on Kokkos can: not in a forked child, where no thread starts.
  bool has_kokkos() const { return has_thread_; }

  // Functions that enqueue or make something throw std::bad_alloc, and have then done nothing.
  Queue* queue_create(int threads);
  void queue_destroy(Queue* queue);
  // Throws the first failure of the queue's work since the last wait.
  void queue_wait(Queue* queue);
  bool queue_idle(Queue* queue);
  void queue_wait_mark(Queue* queue, const SharedMark& mark);

  // Runs work(payload, parallel) in the queue's order: now, on this thread, if nothing is in flight
  // and the `nanoseconds` that it takes there are less than other threads would save; else on the
  // executor.
  template <class Payload>
  void submit(Queue* queue, double nanoseconds, void (*work)(void*, Parallel&), Payload payload) {
    static_assert(sizeof(Payload) <= Item::kPayload && std::is_trivially_copyable_v<Payload>);
    submit_bytes(queue, nanoseconds, work, &payload, sizeof(Payload));
  }

  // Marks. `record` gives a new one that the queue will pass.
  SharedMark promise();
  SharedMark record(Queue* queue);
  void signal(Mark& mark);
  bool done(const Mark& mark, std::int64_t* nanoseconds = nullptr);
  void wait(const Mark& mark);
  void notify(Mark& mark, const Notice& notice);

 private:
  class SharedLoops;
  void start_threads();
  static void* thread_main(void* self);
  void measure_hand_over(double& result, std::chrono::microseconds pause);
  void loop();
  bool may_begin() const;
  // Whether the executor's thread and a waiter may work at the same time: with one thread they take
  // turns.
  bool shares() const { return lends_ && threads_ > 1; }
  void run_next(std::unique_lock<std::mutex>& lock, bool by_waiter);
  void run_ready(std::unique_lock<std::mutex>& lock);
  void submit_bytes(Queue* queue, double nanoseconds, void (*work)(void*, Parallel&), void* payload,
                    std::size_t bytes);
  Item* take_item(Queue* queue, ItemKind kind, SharedMark mark = nullptr);
  void append(Queue* queue, Item* item);
  void make_ready(Queue* queue);
  Notices complete(Mark& mark);
  void finish_if_drained(Queue* queue);
  void tell_waiters();
  template <class Done>
  void wait_until(std::unique_lock<std::mutex>& lock, bool work, Done done);
  bool take_part(Helper& helper, Clock::duration patience, std::unique_lock<std::mutex>& lock);
  void pause(std::unique_lock<std::mutex>& lock);
  void offer(Helper& helper, Loop& loop, int number);

  std::mutex lock_;
  std::condition_variable work_;      // the ready list is no longer empty
  std::condition_variable finished_;  // some queue drained or some mark was passed
  Queue* ready_first_ = nullptr;
  Queue* ready_last_ = nullptr;
  bool runs_ = false;  // an item does, on the executor's thread or a waiter's
  int waiters_ = 0;
  bool lent_ = false;              // one of the waiters lends itself
  Helper waiter_;                  // takes part in the loops of the executor's thread
  Helper thread_;                  // that thread, in those of a waiter
  kit::Vector<Loop::Part> parts_;  // of the loop that runs
  std::unique_ptr<Cores> cores_;   // of all, where there is a pool
  std::unique_ptr<Pool> pool_;  // in all; none where no caller takes part, or two threads suffice
  std::atomic<std::uint64_t> changes_{0};  // of what threads wait for
  int callers_cpu_ = -1;                   // where the last work was submitted
  Clock::duration pauses_[2]{};            // of the executor's thread, the last one first
  // Nanoseconds until work begins on all threads, as measured at the start.
  double hand_over_asleep_ = 20e3, hand_over_awake_ = 20e3;
  int threads_ = 1;
  bool lends_ = true;  // a caller that waits works
  bool has_thread_ = false, started_ = false;
  char failure_[256] = "";  // why the threads did not start
};

}  // namespace trine::cpu
