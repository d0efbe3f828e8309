#include "services.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>

#include "kit/fork.hpp"

namespace trine::registry {
namespace {

std::atomic<const trine_host*> stand_in{nullptr};
std::atomic<bool> is_exiting{false};

// --- Forks while libraries are loaded ---

std::timed_mutex lock;
std::atomic<bool> torn{false};
thread_local bool loads = false;       // this thread has the lock
thread_local bool has_waited = false;  // this thread has it for its fork()

// Not where what is being loaded forks itself. A thread that loads may wait for what the one that
// forks holds, a lock of the loader's for example.
void wait_for_loading() {
  constexpr std::chrono::seconds kPatience(10);
  // By the system's clock: ThreadSanitizer doesn't see a lock that was taken by the steady one.
  has_waited = !loads && lock.try_lock_until(std::chrono::system_clock::now() + kPatience);
}
void go_on_loading() {
  if (has_waited) lock.unlock();
}
void go_on_in_child() {
  if (!has_waited && !loads) torn = true;
  go_on_loading();
}

// As the library is loaded: before anybody can use it.
[[maybe_unused]] const int watched =
    (kit::watch_forks(), pthread_atfork(wait_for_loading, go_on_loading, go_on_in_child));

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

Loading::Loading() {
  lock.lock();
  loads = true;
}
Loading::~Loading() {
  loads = false;
  lock.unlock();
}
bool is_torn() noexcept { return torn.load(std::memory_order_relaxed); }

void watch_exit() {
  static const int watched = std::atexit([] { is_exiting.store(true, std::memory_order_relaxed); });
  static_cast<void>(watched);
}
bool exiting() noexcept { return is_exiting.load(std::memory_order_relaxed); }

}  // namespace trine::registry

void trine_test_host(const trine_host* host) {
  trine::registry::stand_in.store(host, std::memory_order_release);
}
