#include "deferred_deletion.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

namespace trine::detail {
namespace {

// The list of all that was deferred, the eldest first. `list_mutex` guards it, but for what
// arrives, since dropping waits for nobody.
constinit std::mutex list_mutex;
constinit std::atomic<DeferredDeletion*> arrived{nullptr};
constinit std::atomic<std::size_t> count{0};
constinit DeferredDeletion* first = nullptr;
constinit DeferredDeletion** end_of_list = &first;  ///< where the next arrival goes
constinit DeferredDeletion** goes_on = &first;      ///< where free_some() does

void take_arrivals() noexcept {
  DeferredDeletion* item = arrived.exchange(nullptr, std::memory_order_acquire);
  while (item) {
    DeferredDeletion* const later = std::exchange(item->next, nullptr);
    *end_of_list = item;
    end_of_list = &item->next;
    item = later;
  }
}

DeferredDeletion* unlink(DeferredDeletion** at) noexcept {
  DeferredDeletion* const item = *at;
  *at = item->next;
  if (end_of_list == &item->next) end_of_list = at;
  if (goes_on == &item->next) goes_on = at;
  count.fetch_sub(1, std::memory_order_relaxed);
  return item;
}

/// Goes on where the last call stopped; see collect().
void free_some() noexcept {
  constexpr int kLooks = 4;
  take_arrivals();
  bool turned = false;
  for (int looks = 0; looks < kLooks;) {
    if (!*goes_on) {
      if (std::exchange(turned, true)) return;
      goes_on = &first;
    } else if ((*goes_on)->passed()) {
      delete unlink(goes_on);  // may defer others: they arrive
    } else {
      goes_on = &(*goes_on)->next;
      ++looks;
    }
  }
}

enum class Found { nothing, waiting, freed };

/// Frees what has passed, the eldest first, until that gave memory of `device` and `kind`.
Found free_memory(const DeviceState& device, uint32_t kind) noexcept {
  take_arrivals();
  Found found = Found::nothing;
  for (DeferredDeletion** at = &first; *at;) {
    const bool counts = (*at)->frees(device, kind);
    if ((*at)->passed()) {
      if (counts) found = Found::freed;
      delete unlink(at);
    } else {
      if (found == Found::freed) break;
      if (counts) found = Found::waiting;
      at = &(*at)->next;
    }
  }
  return found;
}

}  // namespace

void defer(DeferredDeletion* dropped) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  dropped->next = arrived.load(std::memory_order_relaxed);
  while (!arrived.compare_exchange_weak(dropped->next, dropped, std::memory_order_release,
                                        std::memory_order_relaxed)) {}
}

void collect() noexcept {
  if (count.load(std::memory_order_relaxed) == 0 || !may_call()) return;
  const std::unique_lock lock(list_mutex, std::try_to_lock);
  if (lock) free_some();  // else somebody else is at it
}

bool wait_for_memory(const DeviceState& device, uint32_t kind) noexcept {
  bool was_any = false;
  while (may_call()) {
    {
      std::unique_lock lock(list_mutex, std::try_to_lock);
      if (!lock) {
        was_any = true;  // in the hands of another thread, perhaps
        lock.lock();
      }
      const Found found = free_memory(device, kind);
      was_any = was_any || found != Found::nothing;
      if (found != Found::waiting) return was_any;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return false;
}

}  // namespace trine::detail
