#include "remains.hpp"

#include <atomic>
#include <mutex>

#include "backends/services.hpp"

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

void collect() noexcept {
  if (head.load(std::memory_order_relaxed) == nullptr) return;
  if (registry::forked() || registry::exiting()) return;
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) return;  // somebody else is at it
  Remains* list = head.exchange(nullptr, std::memory_order_acquire);
  while (list) {
    Remains* const item = list;
    list = list->next_;
    if (item->passed()) {
      delete item;  // may defer others, which is why the list was taken out
    } else {
      defer(item);
    }
  }
}

}  // namespace trine::detail
