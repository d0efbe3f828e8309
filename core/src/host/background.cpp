#include "background.hpp"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "backends/services.hpp"
#include "core/src/runtime/error.hpp"

namespace trine::detail {
namespace {

/// More calls at once than a link, or the cpu, is busy with.
constexpr int kMost = 8;

struct Background {
  Background() {
    // A driver that was loaded before ends after this, and so no call loses the ground under it.
    std::atexit([] {
      if (registry::forked()) return;  // the threads stayed with the parent
      auto& all = singleton<Background>();
      std::unique_lock lock(all.mutex);
      all.ended.wait(lock, [&] { return all.threads == 0; });
    });
  }

  /// With the mutex held, but not while a task runs.
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
};

void run_thread() {
  auto& all = singleton<Background>();
  std::unique_lock lock(all.mutex);
  all.work(lock);
}

}  // namespace

void run_in_background(std::function<void()> task) {
  auto& all = singleton<Background>();
  std::unique_lock lock(all.mutex);
  all.waiting.push_back(std::move(task));
  if (all.threads == kMost) return;
  ++all.threads;
  try {
    std::thread(run_thread).detach();
  } catch (...) {  // no thread to be had: another comes to it, or this one does it
    if (all.threads > 1) {
      --all.threads;
      return;
    }
    all.work(lock);
  }
}

}  // namespace trine::detail
