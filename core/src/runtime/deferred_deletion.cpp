#include "deferred_deletion.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

namespace trine::detail {

/// The list of all that was deferred, the eldest first. `mutex` guards it, but for what arrives, since
/// dropping waits for nobody.
class Deferred {
 public:
  enum class Found { nothing, waiting, freed };
  void add(DeferredDeletion* dropped) noexcept;
  bool is_empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
  /// Goes on where the last call stopped; see collect().
  void free_some() noexcept;
  /// Frees what has passed, the eldest first, until that gave memory of `device` and `kind`.
  Found free_memory(const DeviceState& device, uint32_t kind) noexcept;
  std::mutex mutex;

 private:
  void take_arrivals() noexcept;
  DeferredDeletion* unlink(DeferredDeletion** at) noexcept;

  std::atomic<DeferredDeletion*> arrived_{nullptr};
  std::atomic<std::size_t> count_{0};
  DeferredDeletion* first_ = nullptr;
  DeferredDeletion** end_ = &first_;   ///< where the next arrival goes
  DeferredDeletion** next_ = &first_;  ///< where free_some() goes on
};

namespace {

constinit Deferred deferred;

}  // namespace

void Deferred::add(DeferredDeletion* dropped) noexcept {
  count_.fetch_add(1, std::memory_order_relaxed);
  dropped->next_ = arrived_.load(std::memory_order_relaxed);
  while (!arrived_.compare_exchange_weak(dropped->next_, dropped, std::memory_order_release,
                                         std::memory_order_relaxed)) {}
}

void Deferred::take_arrivals() noexcept {
  DeferredDeletion* item = arrived_.exchange(nullptr, std::memory_order_acquire);
  while (item) {
    DeferredDeletion* const later = std::exchange(item->next_, nullptr);
    *end_ = item;
    end_ = &item->next_;
    item = later;
  }
}

DeferredDeletion* Deferred::unlink(DeferredDeletion** at) noexcept {
  DeferredDeletion* const item = *at;
  *at = item->next_;
  if (end_ == &item->next_) end_ = at;
  if (next_ == &item->next_) next_ = at;
  count_.fetch_sub(1, std::memory_order_relaxed);
  return item;
}

void Deferred::free_some() noexcept {
  constexpr int kLooks = 4;
  take_arrivals();
  bool turned = false;
  for (int looks = 0; looks < kLooks;) {
    if (!*next_) {
      if (std::exchange(turned, true)) return;
      next_ = &first_;
    } else if ((*next_)->passed()) {
      delete unlink(next_);  // may defer others: they arrive
    } else {
      next_ = &(*next_)->next_;
      ++looks;
    }
  }
}

Deferred::Found Deferred::free_memory(const DeviceState& device, uint32_t kind) noexcept {
  take_arrivals();
  Found found = Found::nothing;
  for (DeferredDeletion** at = &first_; *at;) {
    const bool counts = (*at)->frees(device, kind);
    if ((*at)->passed()) {
      if (counts) found = Found::freed;
      delete unlink(at);
    } else {
      if (found == Found::freed) break;
      if (counts) found = Found::waiting;
      at = &(*at)->next_;
    }
  }
  return found;
}

void defer(DeferredDeletion* dropped) noexcept { deferred.add(dropped); }

void collect() noexcept {
  if (deferred.is_empty() || !may_call()) return;
  const std::unique_lock lock(deferred.mutex, std::try_to_lock);
  if (lock) deferred.free_some();  // else somebody else is at it
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
      const Deferred::Found found = deferred.free_memory(device, kind);
      was_any = was_any || found != Deferred::Found::nothing;
      if (found != Deferred::Found::waiting) return was_any;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return false;
}

}  // namespace trine::detail
