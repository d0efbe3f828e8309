#include "deferred_deletion.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "backends/kit/fork.hpp"
#include "backends/services.hpp"

namespace trine::detail {
namespace {

/// All deferred objects, the oldest first. `mutex` guards the list, but not the arrivals, because
/// dropping never waits.
struct Deferred {
  std::mutex mutex;
  std::atomic<DeferredDeletion*> arrived{nullptr};
  std::atomic<std::size_t> count{0};
  DeferredDeletion* first = nullptr;
  DeferredDeletion** end = &first;      ///< where the next arrival goes
  DeferredDeletion** goes_on = &first;  ///< where free_some() does

  void take_arrivals() noexcept {
    DeferredDeletion* item = arrived.exchange(nullptr, std::memory_order_acquire);
    while (item) {
      DeferredDeletion* const later = std::exchange(item->next, nullptr);
      *end = item;
      end = &item->next;
      item = later;
    }
  }

  DeferredDeletion* unlink(DeferredDeletion** at) noexcept {
    DeferredDeletion* const item = *at;
    *at = item->next;
    if (end == &item->next) end = at;
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
};

/// The process's list, made without an allocation; a forked child leaves its parent's alone.
Deferred& deferred() noexcept {
  static constinit Deferred first;
  return kit::is_forked() ? kit::singleton<Deferred>() : first;
}

enum class Found { nothing, waiting, freed };

/// Frees what has passed, the eldest first, until that gave memory of `device` and `kind`.
Found free_memory(const DeviceState& device, uint32_t kind) noexcept {
  Deferred& all = deferred();
  all.take_arrivals();
  Found found = Found::nothing;
  for (DeferredDeletion** at = &all.first; *at;) {
    const bool counts = (*at)->frees(device, kind);
    if ((*at)->passed()) {
      if (counts) found = Found::freed;
      delete all.unlink(at);
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
  Deferred& all = deferred();
  all.count.fetch_add(1, std::memory_order_relaxed);
  dropped->next = all.arrived.load(std::memory_order_relaxed);
  while (!all.arrived.compare_exchange_weak(dropped->next, dropped, std::memory_order_release,
                                            std::memory_order_relaxed)) {}
}

void collect() noexcept {
  Deferred& all = deferred();
  if (all.count.load(std::memory_order_relaxed) == 0 || registry::exiting()) return;
  const std::unique_lock lock(all.mutex, std::try_to_lock);
  if (lock) all.free_some();  // else another thread does it
}

bool wait_for_memory(const DeviceState& device, uint32_t kind) noexcept {
  bool was_any = false;
  while (!registry::exiting()) {
    {
      std::unique_lock lock(deferred().mutex, std::try_to_lock);
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
