#include "remains.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace trine::detail {
namespace {

std::mutex mutex;
std::atomic<Remains*> head{nullptr};

}  // namespace

void defer(Remains* remains) noexcept {
  remains->next_ = head.load(std::memory_order_relaxed);
  while (!head.compare_exchange_weak(remains->next_, remains, std::memory_order_release,
                                     std::memory_order_relaxed)) {}
}

Remains::Found Remains::sweep(const DeviceState* device, uint32_t kind) noexcept {
  Found found = Found::nothing;
  Remains* list = head.exchange(nullptr, std::memory_order_acquire);
  while (list) {
    Remains* const item = list;
    list = list->next_;
    const bool passed = item->passed();
    if (device && item->frees(*device, kind))
      found = std::max(found, passed ? Found::freed : Found::waiting);
    if (passed) {
      delete item;  // may defer others, which is why the list was taken out
    } else {
      defer(item);
    }
  }
  return found;
}

void collect() noexcept {
  if (head.load(std::memory_order_relaxed) == nullptr) return;
  if (!may_call()) return;
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (lock) Remains::sweep(nullptr, 0);  // else somebody else is at it
}

bool wait_for_memory(const DeviceState& device, uint32_t kind) noexcept {
  bool was_any = false;
  while (may_call()) {
    {
      std::unique_lock lock(mutex, std::try_to_lock);
      if (!lock) {
        was_any = true;  // in the hands of another thread, perhaps
        lock.lock();
      }
      const Remains::Found found = Remains::sweep(&device, kind);
      was_any = was_any || found != Remains::Found::nothing;
      if (found != Remains::Found::waiting) return was_any;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return false;
}

}  // namespace trine::detail
