// The ranges of host memory that this process has pinned for its wrapped buffers.
#include "cuda/objects.hpp"

#include <memory>
#include <mutex>

namespace trine::cuda {

struct Pin : kit::Allocated {
  Device& device;  // whose context pinned it, and keeps it so
  char* begin;
  uint64_t bytes;
  int holders = 1;
  Pin* next = nullptr;

  Pin(Device& on, void* host, uint64_t size)
      : device(on), begin(static_cast<char*>(host)), bytes(size) {}
  char* end() const { return begin + bytes; }
};

namespace {

// Neither is ever destroyed: buffers may be freed while the process exits.
constinit std::mutex pins_mutex;
constinit Pin* pins = nullptr;

}  // namespace

bool is_pinned(const void* begin, uint64_t bytes) {
  const auto at = reinterpret_cast<Pointer>(begin);
  Pointer start = 0;
  uint64_t size = 0;
  return driver().cuPointerGetAttribute(&start, kAttributeRangeStart, at) == kSuccess &&
         driver().cuPointerGetAttribute(&size, kAttributeRangeSize, at) == kSuccess &&
         start <= at && at + bytes <= start + size;
}

Pin* pin(Device& device, void* host, uint64_t bytes) {
  std::unique_ptr<Pin> fresh(new Pin(device, host, bytes));
  const std::lock_guard lock(pins_mutex);
  bool overlaps = false;
  for (Pin* known = pins; known; known = known->next) {
    if (known->begin <= fresh->begin && fresh->end() <= known->end())
      return ++known->holders, known;
    overlaps = overlaps || (known->begin < fresh->end() && fresh->begin < known->end());
  }
  const Result code = overlaps ? kHostMemoryAlreadyRegistered
                               : driver().cuMemHostRegister(
                                     host, bytes, kHostRegisterPortable | kHostRegisterDeviceMap);
  if (code == kHostMemoryAlreadyRegistered) {
    if (!overlaps && is_pinned(fresh->begin, bytes)) return nullptr;
    kit::fail(
        TRINE_UNSUPPORTED,
        "cuda:%d: a part of these %llu bytes of host memory is wrapped or pinned already, and "
        "the driver can't pin the rest: wrap the whole range once and take views of it",
        device.index, static_cast<unsigned long long>(bytes));
  }
  device.check(code, "cuMemHostRegister");
  gpu::retain(device);
  fresh->next = pins;
  return pins = fresh.release();
}

void unpin(Pin* pin) {
  {
    const std::lock_guard lock(pins_mutex);
    if (--pin->holders) return;
    Pin** link = &pins;
    while (*link != pin) link = &(*link)->next;
    *link = pin->next;
    const Current current(pin->device, std::nothrow);
    driver().cuMemHostUnregister(pin->begin);
  }
  gpu::release(pin->device);
  delete pin;
}

}  // namespace trine::cuda
