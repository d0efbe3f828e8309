// The executor: see executor.hpp for the model. It is created once and never destroyed, so that a
// program may exit with work in flight.
#include "executor.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <trine/version.h>

#include "backends/kit/error.hpp"
#include "backends/kit/float_environment.hpp"
#include "backends/kit/fork.hpp"
#include "backends/kit/host.hpp"
#include "kokkos.hpp"

namespace trine::cpu {
namespace {

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void call_all(const Notices& notices) {
  for (const Notice& notice : notices) notice.function(notice.argument);
}

SharedMark make_mark() { return std::allocate_shared<Mark>(kit::Allocator<Mark>{}); }

}  // namespace

// --- What Kokkos this is ---------------------------------------------------------------------

const char* kokkos_version() {
  static const std::string text = std::to_string(KOKKOS_VERSION / 10000) + "." +
                                  std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
                                  std::to_string(KOKKOS_VERSION % 100);
  return text.c_str();
}

const char* cpu_build_line() {
  static const std::string text = std::string("trine " TRINE_VERSION_STRING ", Kokkos ") +
                                  kokkos_version() + " with OpenMP, Highway for SIMD";
  return text.c_str();
}

const char* loops_words() { return kokkos_is_ours() ? "own threads" : "Kokkos's threads"; }

// --- Loops -----------------------------------------------------------------------------------

// The loops of an item: on the executor's thread or on that of a caller that waits, with the other
// one and the pool.
class Executor::SharedLoops final : public Parallel {
 public:
  SharedLoops(int threads, Executor& executor, bool by_waiter)
      : Parallel(threads), executor_(executor), by_waiter_(by_waiter) {}

 private:
  void run(std::int64_t count, RunChunk run_chunk, void* body, Order order) override {
    if (count <= 0) return;
    const int wanted = static_cast<int>(std::min<std::int64_t>(count, threads()));
    const std::span parts(executor_.parts_.data(), order == Order::own ? wanted : 1);
    Loop loop(count, run_chunk, body, parts);
    if (executor_.lends_) {
      share(loop, wanted);
    } else {
      on_kokkos_threads(wanted, [&](int thread) { loop.take_chunks(thread); });
    }
    loop.end();
  }
  void share(Loop& loop, int wanted) {
    // Thread 0 is the executor's, the last one the caller's.
    const int mine = by_waiter_ ? threads() - 1 : 0, other = by_waiter_ ? 0 : threads() - 1;
    Helper& helper = by_waiter_ ? executor_.thread_ : executor_.waiter_;
    const bool pool = wanted > 2;
    if (pool) {
      executor_.cores_->occupy(by_waiter_ ? executor_.threads_ - 1 : 0);
      executor_.pool_->offer(loop, wanted - 2);
    }
    if (wanted > 1) executor_.offer(helper, loop, other);
    loop.take_chunks(mine);
    if (wanted > 1) helper.participation.withdraw();
    if (pool) executor_.pool_->withdraw();
  }

  Executor& executor_;
  bool by_waiter_;
};

// --- Start -----------------------------------------------------------------------------------

Executor::Executor() : waiter_{finished_, {}, {}}, thread_{work_, {}, {}}, parts_(1) {}

Executor* Executor::start() {
  kit::InUse in_use;  // a forked child has our memory, but not our threads
  if (kit::is_forked()) {
    in_use.for_good();
    return &kit::singleton<Executor>();
  }
  static constinit std::mutex once;
  static constinit Executor* instance = nullptr;
  const std::lock_guard guard(once);
  if (instance) return instance;
  auto* fresh = new Executor;
  fresh->has_thread_ = true;
  const auto give_up = [&](const char* what, const char* why) {
    char sentence[sizeof fresh->failure_];
    std::snprintf(sentence, sizeof sentence, "%s", why);
    delete fresh;
    kit::fail(TRINE_BACKEND_ERROR, "cpu: %s: %s", what, sentence);
  };
  pthread_t thread;
  if (const int error = pthread_create(&thread, nullptr, thread_main, fresh); error != 0)
    give_up("the executor's thread could not start, by a limit of threads or of memory",
            std::strerror(error));
  std::unique_lock lock(fresh->lock_);
  fresh->finished_.wait(lock, [&] { return fresh->started_; });
  lock.unlock();
  if (*fresh->failure_) {
    pthread_join(thread, nullptr);
    give_up("its threads could not start", fresh->failure_);
  }
  pthread_detach(thread);
  in_use.for_good();
  instance = fresh;
  fresh->measure_hand_over(fresh->hand_over_asleep_, std::chrono::microseconds(450));
  fresh->measure_hand_over(fresh->hand_over_awake_, std::chrono::microseconds(0));
  return instance;
}

// The time from the call to the end of an empty loop over the pool: the second smallest of several,
// because other programs disturb some of them. It is at least `kLeast`, because the other thread's
// first chunks are in this one's cache, and at most `kMost`, so that no caller works longer than
// that on work for which it doesn't wait.
void Executor::measure_hand_over(double& result, std::chrono::microseconds pause) {
  constexpr int kTries = 5;
  constexpr double kLeast = 8e3, kMost = 50e3;
  double taken[kTries];
  auto destroy = [this](Queue* made) { queue_destroy(made); };
  const std::unique_ptr<Queue, decltype(destroy)> queue(queue_create(threads_), destroy);
  for (double& nanoseconds : taken) {
    std::this_thread::sleep_for(pause);
    pause += pause / 3;  // else the end of the next one would be foreseen
    std::int64_t end = 0;
    std::int64_t* const stamp = &end;
    const std::int64_t begin = now();
    const auto empty = [](void* payload, Parallel& parallel) {
      parallel.parallel_for(parallel.threads(), [](std::int64_t, int) {});
      **static_cast<std::int64_t**>(payload) = now();
    };
    submit(queue.get(), kNeverSmall, empty, stamp);
    queue_wait(queue.get());
    nanoseconds = static_cast<double>(end - begin);
  }
  std::sort(taken, taken + kTries);
  const std::lock_guard guard(lock_);
  result = std::clamp(taken[1], kLeast, kMost);
}

// On the executor's thread.
void Executor::start_threads() {
  const int wanted = wanted_threads();
  lends_ = kokkos_is_ours();
  // The pool, and a team of OpenMP's threads for Kokkos and for loops of packs.
  const int startable = startable_threads(lends_ ? std::max(wanted, 2 * wanted - 2) : wanted);
  threads_ = std::min(wanted, startable);
  if (!lends_) threads_ = start_kokkos(threads_);
  parts_ = kit::Vector<Loop::Part>(static_cast<std::size_t>(threads_));
  if (lends_ && threads_ > 2) {
    cores_ = std::make_unique<Cores>(threads_, process_cpus());
    pool_ = std::make_unique<Pool>(threads_ - 2, *cores_);
    threads_ = 2 + pool_->start();
  }
  if (lends_) omp_set_num_threads(std::clamp(startable + 2 - threads_, 1, threads_));
  thread_.sleeps = threads_ == 1;  // and then it always does
}

void* Executor::thread_main(void* self) {
  auto* executor = static_cast<Executor*>(self);
  // Before the others start: the pool's threads and Kokkos's inherit it from this one.
  const kit::WholeFloatEnvironment environment;
  const auto fail = [executor](const char* why) {
    std::snprintf(executor->failure_, sizeof executor->failure_, "%.*s",
                  static_cast<int>(std::strcspn(why, "\n")), why);
  };
  try {
    executor->start_threads();
  } catch (const std::exception& error) { fail(error.what()); } catch (...) {
    fail("no reason given");
  }
  {
    const std::lock_guard guard(executor->lock_);
    executor->started_ = true;
    executor->finished_.notify_all();
  }
  if (!*executor->failure_) executor->loop();
  return nullptr;
}

// --- The thread ------------------------------------------------------------------------------

void Executor::loop() {
  std::unique_lock lock(lock_);
  for (;;) {
    if (ready_first_ && !runs_) {
      run_next(lock, false);
    } else {
      pause(lock);
    }
  }
}

// Whether a waiting thread may run the next item: functions of others run on the executor's thread
// alone.
bool Executor::may_begin() const {
  if (runs_ || !ready_first_) return false;
  const Item& item = *ready_first_->first;
  return item.kind == ItemKind::kRecord ? item.mark->notices.empty() : !item.executors_alone;
}

// Runs the front item of the first ready queue, then puts the queue where it belongs: at the end of
// the ready list, into a mark's list, or to rest.
void Executor::run_next(std::unique_lock<std::mutex>& lock, bool by_waiter) {
  Queue* queue = ready_first_;
  ready_first_ = queue->next;
  if (!ready_first_) ready_last_ = nullptr;
  Item* item = queue->first;
  Notices notices;
  if (item->kind == ItemKind::kWait && !item->mark->done) {
    queue->next = item->mark->waiting;
    item->mark->waiting = queue;
    return;
  }
  if (item->kind == ItemKind::kRecord) notices = complete(*item->mark);
  if (item->kind == ItemKind::kWork || !notices.empty()) {
    runs_ = true;
    lock.unlock();
    trine_status status = TRINE_OK;
    if (item->kind == ItemKind::kWork) {
      SharedLoops loops(queue->threads, *this, by_waiter);
      status = kit::guard([&] { item->work(item->payload, loops); });
    }
    call_all(notices);
    lock.lock();
    if (status != TRINE_OK && queue->failure == TRINE_OK) {
      queue->failure = status;
      std::snprintf(queue->why, sizeof queue->why, "%s", kit::last_error());
    }
    runs_ = false;
    if (ready_first_) work_.notify_one();  // it came meanwhile
  }
  item->mark = nullptr;
  queue->first = item->next;
  if (!queue->first) queue->last = nullptr;
  item->next = queue->spare;
  queue->spare = item;
  if (queue->first) {
    make_ready(queue);
  } else {
    queue->scheduled = false;
    finish_if_drained(queue);
  }
}

// Without a thread: runs all that the caller has made ready, and all that this makes ready.
void Executor::run_ready(std::unique_lock<std::mutex>& lock) {
  while (!has_thread_ && ready_first_ && !runs_) run_next(lock, true);
}

// A queue has no more work: wakes those who wait for it, or deletes it if its owner has destroyed
// it.
void Executor::finish_if_drained(Queue* queue) {
  tell_waiters();
  if (!queue->orphan) return;
  while (Item* item = queue->spare) {
    queue->spare = item->next;
    delete item;
  }
  delete queue;
}

void Executor::make_ready(Queue* queue) {
  queue->next = nullptr;
  (ready_last_ ? ready_last_->next : ready_first_) = queue;
  ready_last_ = queue;
  changes_.fetch_add(1, std::memory_order_release);
  work_.notify_one();
}

// --- Queues ----------------------------------------------------------------------------------

Queue* Executor::queue_create(int threads) {
  auto* queue = new Queue;
  queue->threads = threads;
  return queue;
}

void Executor::queue_destroy(Queue* queue) {
  const std::lock_guard guard(lock_);
  queue->orphan = true;
  if (!queue->scheduled) finish_if_drained(queue);
}

bool Executor::queue_idle(Queue* queue) { return !queue->scheduled; }

Item* Executor::take_item(Queue* queue, ItemKind kind, SharedMark mark) {
  Item* item = queue->spare;
  if (item) {
    queue->spare = item->next;
  } else {
    item = new Item;
  }
  item->next = nullptr;
  item->kind = kind;
  item->mark = std::move(mark);
  item->executors_alone = false;
  return item;
}

void Executor::append(Queue* queue, Item* item) {
  (queue->last ? queue->last->next : queue->first) = item;
  queue->last = item;
  if (queue->scheduled) return;
  queue->scheduled = true;
  make_ready(queue);
}

void Executor::submit_bytes(Queue* queue, double nanoseconds, void (*work)(void*, Parallel&),
                            void* payload, std::size_t bytes) {
  const double hand_over = thread_.sleeps ? hand_over_asleep_ : hand_over_awake_;
  if (!queue->scheduled && is_small(nanoseconds, hand_over, queue->threads)) {
    // Core serialises the calls on one queue, so nothing can overtake us here.
    Serial serial;
    return work(payload, serial);
  }
  std::unique_lock lock(lock_);
  callers_cpu_ = sched_getcpu();
  Item* item = take_item(queue, ItemKind::kWork);
  item->work = work;
  item->executors_alone = nanoseconds == kNeverSmall;
  std::memcpy(item->payload, payload, bytes);
  append(queue, item);
  run_ready(lock);
}

void Executor::queue_wait_mark(Queue* queue, const SharedMark& mark) {
  std::unique_lock lock(lock_);
  if (mark->done) return;
  append(queue, take_item(queue, ItemKind::kWait, mark));
  run_ready(lock);
}

// --- Marks -----------------------------------------------------------------------------------

SharedMark Executor::promise() {
  SharedMark mark = make_mark();
  mark->promised = true;
  return mark;
}

SharedMark Executor::record(Queue* queue) {
  SharedMark mark = make_mark();
  const std::lock_guard guard(lock_);
  if (!queue->scheduled) {
    complete(*mark);
  } else {
    append(queue, take_item(queue, ItemKind::kRecord, mark));
  }
  return mark;
}

// Called under the lock. The caller runs the notices after it has released the lock.
Notices Executor::complete(Mark& mark) {
  mark.done = true;
  mark.nanoseconds = now();
  while (Queue* queue = mark.waiting) {
    mark.waiting = queue->next;
    make_ready(queue);
  }
  tell_waiters();
  return std::exchange(mark.notices, {});
}

void Executor::signal(Mark& mark) {
  std::unique_lock lock(lock_);
  if (mark.done) return;
  const Notices notices = complete(mark);
  run_ready(lock);
  lock.unlock();
  call_all(notices);
}

bool Executor::done(const Mark& mark, std::int64_t* nanoseconds) {
  const std::lock_guard guard(lock_);
  if (nanoseconds) *nanoseconds = mark.nanoseconds;
  return mark.done;
}

void Executor::notify(Mark& mark, const Notice& notice) {
  std::unique_lock lock(lock_);
  if (!mark.done) return mark.notices.push_back(notice);
  lock.unlock();
  notice.function(notice.argument);
}

}  // namespace trine::cpu
