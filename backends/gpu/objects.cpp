// How a GPU backend's objects are made and destroyed: one device for each index while it is
// referred to, lost devices, and forked children.
#include "backends/gpu/objects.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>

namespace trine::gpu {
namespace {

std::mutex open_mutex;
trine_device* open_devices[kMaxDevices];  // a device without references may still be here

bool retain_living(trine_device& device) {
  int count = device.references.load(std::memory_order_relaxed);
  while (count > 0 && !device.references.compare_exchange_weak(count, count + 1)) {}
  return count > 0;
}

}  // namespace

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
  if (!is_forked()) {  // in a child a thread of the parent may hold the mutex
    std::lock_guard lock(open_mutex);
    if (open_devices[device.index] == &device) open_devices[device.index] = nullptr;
  }
  delete &device;
}

OnDevice::OnDevice(trine_device& on) : device(on) { retain(on); }
OnDevice::~OnDevice() { release(device); }

}  // namespace trine::gpu

void trine_device::lose(const char* reason) {
  if (losing_.exchange(true)) return;
  std::snprintf(lost_reason_, sizeof lost_reason_, "%s", reason);
  lost_.store(true, std::memory_order_release);
}

void trine_queue::copy(trine_copy copy) {
  const bool overlaps = copy.source_pitch < copy.width;
  if (copy.source_pitch == copy.width && copy.target_pitch == copy.width) {  // no gaps: one row
    copy.width *= copy.height;
    copy.height = 1;
  }
  if (copy.height > 1 && copy.source_pitch == 0 && copy.direction != TRINE_DEVICE_TO_HOST)
    return repeat_row(copy);
  if (copy.height > 1 && !overlaps && copy_box(copy)) return;
  for (uint64_t row = 0; row < copy.height; ++row) {
    copy_row(copy);
    copy.source_offset += copy.source_pitch;
    copy.target_offset += copy.target_pitch;
  }
}

/// Copies a first row to the device, and then within the device all that is there already, twice as
/// much each time.
void trine_queue::repeat_row(const trine_copy& wanted) {
  copy_row(wanted);
  trine_copy part = wanted;
  part.direction = TRINE_DEVICE_TO_DEVICE;
  part.source = wanted.target;
  part.source_offset = wanted.target_offset;
  part.source_pitch = wanted.target_pitch;
  for (uint64_t done = 1; done < wanted.height; done += part.height) {
    part.height = std::min(done, wanted.height - done);
    part.target_offset = wanted.target_offset + done * wanted.target_pitch;
    copy(part);
  }
}
