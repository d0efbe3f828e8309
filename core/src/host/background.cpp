#include "background.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "backends/kit/signals.hpp"
#include "core/src/runtime/error.hpp"

namespace trine::detail {
namespace {

/// Enough calls at the same time to keep a link or the cpu busy.
constexpr int kMost = 8;

struct Background {
  /// Called with the mutex held. exit() calls handlers in reverse order, so a driver that was
  /// loaded before this ends after the wait, and no call loses its driver. It is done again for
  /// each device, because its driver may have been loaded after the last time.
  void wait_at_exit(const void* device) {
    if (std::ranges::find(waited_for, device) != waited_for.end()) return;
    waited_for.push_back(device);
    std::atexit([] {
      auto& all = singleton<Background>();  // in a forked child another one: the threads stayed
                                            // with the parent
      std::unique_lock lock(all.mutex);
      all.ended.wait(lock, [&] { return all.threads == 0; });
    });
  }

  /// The mutex is held, but not while a task runs.
  void work(std::unique_lock<std::mutex>& lock) {
    while (!waiting.empty()) {
      std::function<void()> task = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
    --threads;
    ended.notify_all();
  }

  std::mutex mutex;
  std::condition_variable ended;
  std::deque<std::function<void()>> waiting;
  int threads = 0;
  std::vector<const void*> waited_for;
};

void run_thread() {
  auto& all = singleton<Background>();
  std::unique_lock lock(all.mutex);
  all.work(lock);
}

}  // namespace

void run_in_background(const void* device, std::function<void()> task) {
  if (kit::is_forked()) return task();
  auto& all = singleton<Background>();
  std::unique_lock lock(all.mutex);
  all.wait_at_exit(device);
  all.waiting.push_back(std::move(task));
  if (all.threads == kMost) return;
  ++all.threads;
  try {
    kit::without_signals([] { std::thread(run_thread).detach(); });
  } catch (...) {  // no new thread: another one takes the task, or this one does
    if (all.threads > 1) {
      --all.threads;
      return;
    }
    all.work(lock);
  }
}

}  // namespace trine::detail
