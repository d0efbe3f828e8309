// Buffers, copies and fills of the contract: device memory of a CPU is host memory.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "backends/kit/abi_struct.hpp"
#include "handles.hpp"
#include "memory.hpp"

namespace trine::cpu {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kHugePage = 2 << 20;

trine_status make_buffer(trine_device* device, trine_memory_kind kind, void* memory,
                         std::uint64_t bytes, bool owned, trine_buffer** buffer) {
  return checked(
      [&] { *buffer = new trine_buffer{{}, retain(device), kind, memory, bytes, owned}; });
}

trine_status buffer_allocate(trine_device* device, std::uint64_t bytes, std::uint32_t kind,
                             trine_buffer** buffer) {
  return checked([&]() -> trine_status {
    if (kind != TRINE_MEMORY_DEVICE && kind != TRINE_MEMORY_PINNED)
      kit::fail(TRINE_INVALID_ARGUMENT, "cpu: %u is no kind of memory to allocate", kind);
    const bool large = bytes >= 2 * kHugePage;
    void* memory = kit::allocate(std::max<std::uint64_t>(bytes, kLine), large ? kHugePage : kLine);
    if (!memory)
      kit::fail(TRINE_OUT_OF_MEMORY, "cpu: no host memory for a buffer of %llu bytes",
                static_cast<unsigned long long>(bytes));
    // Fewer page faults and TLB misses where the system allows it; only a hint.
    if (large) madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
    const trine_status status =
        make_buffer(device, static_cast<trine_memory_kind>(kind), memory, bytes, true, buffer);
    if (status != TRINE_OK) kit::release(memory);
    return status;
  });
}

trine_status buffer_adopt(trine_device* device, void* native, std::uint64_t bytes,
                          trine_buffer** buffer) {
  return make_buffer(device, TRINE_MEMORY_ADOPTED, native, bytes, false, buffer);
}

trine_status buffer_wrap(trine_device* device, void* host, std::uint64_t bytes,
                         trine_buffer** buffer) {
  return make_buffer(device, TRINE_MEMORY_WRAPPED, host, bytes, false, buffer);
}

void buffer_free(trine_buffer* buffer) {
  if (!buffer || Executor::lost()) return;
  if (buffer->owned) kit::release(buffer->memory);
  release(buffer->device);
  delete buffer;
}

trine_status buffer_facts(trine_buffer* buffer, trine_buffer_facts* facts) {
  return checked([&] {
    void* const memory = buffer->memory;
    const trine_buffer_facts known{sizeof known,  buffer->kind,
                                   memory,        memory,
                                   buffer->bytes, reinterpret_cast<std::uintptr_t>(memory)};
    kit::give(known, facts);
  });
}

constexpr double kNanosecondsPerByte = 0.3;  // of one thread, at most

trine_status copy(trine_queue* queue, const trine_copy* request) {
  return checked([&] {
    trine_copy ours;
    if (!kit::take(request, ours, sizeof ours))
      kit::fail(TRINE_UNSUPPORTED, "cpu: a copy of an unknown form");
    const double nanoseconds = kNanosecondsPerByte * double(ours.width) * double(ours.height);
    queue->device->executor->submit(queue->queue, nanoseconds, run_copy, ours);
  });
}

trine_status fill_view(trine_queue* queue, const trine_view* view, const void* pattern,
                       std::uint32_t pattern_bytes) {
  return checked([&] {
    Fill request{};
    if (pattern_bytes == 0 || pattern_bytes > sizeof request.element ||
        (pattern_bytes & (pattern_bytes - 1)) != 0)
      kit::fail(TRINE_INVALID_ARGUMENT, "cpu: a fill's pattern has 1, 2, 4, 8 or 16 bytes, not %u",
                pattern_bytes);
    request.view = *view;
    request.bytes = pattern_bytes;
    std::memcpy(request.element, pattern, pattern_bytes);
    const double bytes =
        double(view->rows) * double(view->cols) * double(view->batch) * pattern_bytes;
    queue->device->executor->submit(queue->queue, kNanosecondsPerByte * bytes, run_fill, request);
  });
}

trine_status fill(trine_queue* queue, void* memory, std::uint64_t offset, std::uint64_t bytes,
                  const void* pattern, std::uint32_t pattern_bytes) {
  const auto count = static_cast<std::int64_t>(pattern_bytes ? bytes / pattern_bytes : 0);
  const trine_view view{memory, offset, 1, count, 1, count, 1, 0};
  return fill_view(queue, &view, pattern, pattern_bytes);
}

}  // namespace

void fill_buffer_table(trine_backend& table) {
  TRINE_BUFFER_FUNCTIONS(TRINE_SET)
  table.fill_view = fill_view;
}

}  // namespace trine::cpu
