// Life and death of a GPU backend's objects: one device an index while anyone refers to it, lost
// devices, and forked children.
#include "backends/gpu/objects.hpp"

#include <pthread.h>

#include <cstdio>
#include <memory>
#include <mutex>

namespace trine::gpu {
namespace {

std::atomic<bool> forked{false};
std::mutex open_mutex;
trine_device* open_devices[kMaxDevices];  // one whose last reference went may still stand here

bool retain_living(trine_device& device) {
  int count = device.references.load(std::memory_order_relaxed);
  while (count > 0 && !device.references.compare_exchange_weak(count, count + 1)) {}
  return count > 0;
}

}  // namespace

void watch_forks() {
  static const int once = pthread_atfork(nullptr, nullptr, [] { forked = true; });
  (void)once;
}

bool is_forked() { return forked.load(std::memory_order_relaxed); }

trine_device* open(const Driver& driver, int index) {
  if (index >= kMaxDevices) kit::fail(TRINE_UNSUPPORTED, "more than %d devices", kMaxDevices);
  std::lock_guard lock(open_mutex);
  trine_device*& slot = open_devices[index];
  if (slot && !slot->is_lost() && retain_living(*slot)) return slot;
  std::unique_ptr<trine_device> fresh(driver.open(index));
  fresh->target.runs_here = runs_here;
  probe_arithmetic(*fresh);
  return slot = fresh.release();
}

void retain(trine_device& device) { device.references.fetch_add(1, std::memory_order_relaxed); }

void release(trine_device& device) {
  if (device.references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!is_forked()) {  // else the mutex may be held by a thread that isn't here
    std::lock_guard lock(open_mutex);
    if (open_devices[device.index] == &device) open_devices[device.index] = nullptr;
  }
  delete &device;
}

}  // namespace trine::gpu

void trine_device::lose(const char* reason) {
  if (losing_.exchange(true)) return;
  std::snprintf(lost_reason_, sizeof lost_reason_, "%s", reason);
  lost_.store(true, std::memory_order_release);
}

trine_queue::trine_queue(trine_device& on) : device(on) { trine::gpu::retain(device); }
trine_queue::~trine_queue() { trine::gpu::release(device); }
trine_event::trine_event(trine_device& on) : device(on) { trine::gpu::retain(device); }
trine_event::~trine_event() { trine::gpu::release(device); }
trine_buffer::trine_buffer(trine_device& on, uint32_t kind, uint64_t bytes) : device(on) {
  facts.size = sizeof facts;
  facts.kind = kind;
  facts.bytes = bytes;
  trine::gpu::retain(device);
}
trine_buffer::~trine_buffer() { trine::gpu::release(device); }
