// Buffers: device memory in stream order, so that giving it back blocks no queue; pinned memory;
// the caller's.
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "cuda/objects.hpp"

namespace trine::cuda {

// --- Pins ---------------------------------------------------------------------------------------

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

// The driver's facts about a pointer, two at a time: zeros for one that isn't its own, which is no
// error, while cuPointerGetAttribute() would fail and tools would report it.
template <class First, class Second>
Result ask(Pointer pointer, int first_attribute, First& first, int second_attribute,
           Second& second) {
  const int attributes[] = {first_attribute, second_attribute};
  void* answers[] = {&first, &second};
  return driver().cuPointerGetAttributes(2, attributes, answers, pointer);
}

bool is_pinned(const void* begin, uint64_t bytes) {
  const auto at = reinterpret_cast<Pointer>(begin);
  Pointer start = 0;
  uint64_t size = 0;
  return ask(at, kAttributeRangeStart, start, kAttributeRangeSize, size) == kSuccess &&
         start <= at && at + bytes <= start + size;
}

namespace {

// The list and its mutex are never destroyed, because buffers may be freed while the process exits.
constinit std::mutex pins_mutex;
constinit Pin* pins = nullptr;

// Pins [host, host + bytes). nullptr: the program has pinned it already, and will unpin it. Refuses
// a range of which another wrapped or pinned range covers a part: the driver can't add to it.
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

// Gives back what pin() gave; the last holder's unpins.
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

// --- Buffers ------------------------------------------------------------------------------------

Pointer pointer_of(const void* native) { return reinterpret_cast<Pointer>(native); }
void set_address(Buffer& buffer, Pointer pointer) {
  buffer.facts.native = reinterpret_cast<void*>(pointer);
  buffer.facts.address = pointer;
}

}  // namespace

Buffer::~Buffer() {
  if (gpu::is_forked()) return;
  if (device_.is_lost() && facts.kind != TRINE_MEMORY_WRAPPED) return;
  const Current current(device_, std::nothrow);
  switch (facts.kind) {
    case TRINE_MEMORY_DEVICE:
      if (!facts.native) break;
      if (device_.has_pools) {
        driver().cuMemFreeAsync(pointer_of(facts.native), device_.service);
      } else {
        driver().cuMemFree(pointer_of(facts.native));
      }
      break;
    case TRINE_MEMORY_PINNED:
      if (facts.host) driver().cuMemFreeHost(facts.host);
      break;
    case TRINE_MEMORY_WRAPPED:
      if (pin) unpin(pin);
      break;
  }
}

trine_buffer* Device::allocate(uint64_t bytes, uint32_t kind) {
  std::unique_ptr<Buffer> buffer(new Buffer(*this, kind, bytes));
  const Current current(*this);
  Pointer pointer = 0;
  if (kind == TRINE_MEMORY_PINNED) {
    check(driver().cuMemHostAlloc(&buffer->facts.host, gpu::at_least_one(bytes),
                                  kHostAllocPortable | kHostAllocDeviceMap),
          "cuMemHostAlloc");
    check(driver().cuMemHostGetDevicePointer(&pointer, buffer->facts.host, 0),
          "cuMemHostGetDevicePointer");
    set_address(*buffer, pointer);
  } else if (has_pools) {
    check(driver().cuMemAllocAsync(&pointer, gpu::at_least_one(bytes), service), "cuMemAllocAsync");
    set_address(*buffer, pointer);
    // The service stream holds nothing but allocations: this waits for no work of ours. It asks,
    // since at a wait the driver takes from its pool what is unused, and the call's next buffer
    // would be mapped again. Not for long: memory that another library has freed may wait for that
    // library's work.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    Result code = kNotReady;
    while ((code = driver().cuStreamQuery(service)) == kNotReady &&
           std::chrono::steady_clock::now() < limit)
      std::this_thread::yield();
    if (code == kNotReady) code = driver().cuStreamSynchronize(service);
    check(code, "cuMemAllocAsync");
  } else {
    check(driver().cuMemAlloc(&pointer, gpu::at_least_one(bytes)), "cuMemAlloc");
    set_address(*buffer, pointer);
  }
  return buffer.release();
}

trine_buffer* Device::adopt(void* native_pointer, uint64_t bytes) {
  const Current current(*this);
  int type = 0, ordinal = -1;
  const Result known =
      ask(pointer_of(native_pointer), kAttributeMemoryType, type, kAttributeOrdinal, ordinal);
  if (is_sticky(known)) check(known, "cuPointerGetAttributes");
  if (known != kSuccess || type == 0 || (type != kMemoryHost && ordinal != id)) {
    kit::fail(TRINE_INVALID_ARGUMENT, "cuda:%d: the adopted pointer isn't memory of this device",
              index);
  }
  std::unique_ptr<Buffer> buffer(new Buffer(*this, TRINE_MEMORY_ADOPTED, bytes));
  set_address(*buffer, pointer_of(native_pointer));
  return buffer.release();
}

trine_buffer* Device::wrap(void* host, uint64_t bytes) {
  std::unique_ptr<Buffer> buffer(new Buffer(*this, TRINE_MEMORY_WRAPPED, bytes));
  buffer->facts.host = host;
  if (bytes == 0) return buffer.release();
  const Current current(*this);
  buffer->pin = pin(*this, host, bytes);
  Pointer pointer = 0;
  check(driver().cuMemHostGetDevicePointer(&pointer, host, 0), "cuMemHostGetDevicePointer");
  set_address(*buffer, pointer);
  return buffer.release();
}

}  // namespace trine::cuda
