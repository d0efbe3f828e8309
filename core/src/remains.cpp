#include "remains.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace trine::detail {

/// The list of all that was deferred.
class Deferred {
 public:
  enum class Found { nothing, waiting, freed };
  void add(Remains* remains) noexcept;
  bool is_empty() const noexcept { return head_.load(std::memory_order_relaxed) == nullptr; }
  /// Frees what has passed; tells what there was of `device` and `kind`. One thread at a time: `mutex`.
  Found sweep(const DeviceState* device, uint32_t kind) noexcept;
  std::mutex mutex;

 private:
  std::atomic<Remains*> head_{nullptr};
};

namespace {

constinit Deferred deferred;

}  // namespace

void Deferred::add(Remains* remains) noexcept {
  remains->next_ = head_.load(std::memory_order_relaxed);
  while (!head_.compare_exchange_weak(remains->next_, remains, std::memory_order_release,
                                      std::memory_order_relaxed)) {}
}

Deferred::Found Deferred::sweep(const DeviceState* device, uint32_t kind) noexcept {
  Found found = Found::nothing;
  Remains* list = head_.exchange(nullptr, std::memory_order_acquire);
  while (list) {
    Remains* const item = list;
    list = list->next_;
    const bool passed = item->passed();
    if (device && item->frees(*device, kind))
      found = std::max(found, passed ? Found::freed : Found::waiting);
    if (passed) {
      delete item;  // may defer others, which is why the list was taken out
    } else {
      add(item);
    }
  }
  return found;
}

void defer(Remains* remains) noexcept { deferred.add(remains); }

void collect() noexcept {
  if (deferred.is_empty() || !may_call()) return;
  const std::unique_lock lock(deferred.mutex, std::try_to_lock);
  if (lock) deferred.sweep(nullptr, 0);  // else somebody else is at it
}

bool wait_for_memory(const DeviceState& device, uint32_t kind) noexcept {
  bool was_any = false;
  while (may_call()) {
    {
      std::unique_lock lock(deferred.mutex, std::try_to_lock);
      if (!lock) {
        was_any = true;  // in the hands of another thread, perhaps
        lock.lock();
      }
      const Deferred::Found found = deferred.sweep(&device, kind);
      was_any = was_any || found != Deferred::Found::nothing;
      if (found != Deferred::Found::waiting) return was_any;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return false;
}

}  // namespace trine::detail
