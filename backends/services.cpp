#include "services.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdlib>

namespace trine::registry {
namespace {

std::atomic<const trine_host*> stand_in{nullptr};
std::atomic<bool> is_forked{false}, is_exiting{false};
std::atomic<int> uses{0};

void* allocate(void*, size_t bytes, size_t alignment) {
  if (const trine_host* host = stand_in.load(std::memory_order_acquire)) {
    return host->allocate(host->context, bytes, alignment);
  }
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  void* pointer = nullptr;
  return posix_memalign(&pointer, alignment, bytes ? bytes : 1) == 0 ? pointer : nullptr;
}

void release(void*, void* pointer) {
  if (const trine_host* host = stand_in.load(std::memory_order_acquire)) {
    host->release(host->context, pointer);
  } else {
    std::free(pointer);
  }
}

}  // namespace

const trine_host& services() noexcept {
  static constexpr trine_host host{sizeof(trine_host), nullptr, &allocate, &release};
  return host;
}

void watch_process() {
  static const bool watched = [] {
    pthread_atfork(nullptr, nullptr, [] {
      if (uses.load(std::memory_order_relaxed) > 0)
        is_forked.store(true, std::memory_order_relaxed);
    });
    std::atexit([] { is_exiting.store(true, std::memory_order_relaxed); });
    return true;
  }();
  static_cast<void>(watched);
}

InUse::InUse() noexcept { uses.fetch_add(1, std::memory_order_relaxed); }
InUse::~InUse() {
  if (ends_) uses.fetch_sub(1, std::memory_order_relaxed);
}

bool forked() noexcept { return is_forked.load(std::memory_order_relaxed); }
bool exiting() noexcept { return is_exiting.load(std::memory_order_relaxed); }

}  // namespace trine::registry

void trine_test_host(const trine_host* host) {
  trine::registry::stand_in.store(host, std::memory_order_release);
}
