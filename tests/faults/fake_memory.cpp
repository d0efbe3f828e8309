// The fake driver's memory: host memory, watched for what lies outside of it.
#include <cstdlib>
#include <cstring>

#include "fake_state.hpp"

namespace fake_cuda {

Result allocate(Pointer* pointer, std::size_t bytes) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  auto* block = static_cast<char*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(block, 0xcd, bytes);
  state.memory[block] = bytes;
  return *pointer = reinterpret_cast<Pointer>(block), kSuccess;
}
Result deallocate(Pointer pointer) {
  const Lock lock(state.mutex);
  pump();
  if (!state.memory.erase(host_of(pointer))) return kInvalidValue;
  std::free(host_of(pointer));
  return kSuccess;
}
Result allocate_async(Pointer* pointer, std::size_t bytes, Stream) {
  return allocate(pointer, bytes);
}
Result deallocate_async(Pointer pointer, Stream) { return deallocate(pointer); }
Result host_allocate(void** host, std::size_t bytes, unsigned) {
  Pointer pointer = 0;
  const Result code = allocate(&pointer, bytes);
  if (code == kSuccess) state.pinned.insert(host_of(pointer));
  return *host = host_of(pointer), code;
}
Result host_free(void* host) {
  state.pinned.erase(static_cast<char*>(host));
  return deallocate(reinterpret_cast<Pointer>(host));
}
Result host_register(void* host, std::size_t bytes, unsigned) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  auto* const begin = static_cast<char*>(host);
  for (const auto& [other, size] : state.registered)
    if (begin < other + size && other < begin + bytes) return kHostMemoryAlreadyRegistered;
  return state.registered.emplace(begin, bytes), kSuccess;
}
Result host_unregister(void* host) {
  const Lock lock(state.mutex);
  return state.registered.erase(static_cast<char*>(host)) ? kSuccess : 713;
}
Result device_pointer(Pointer* pointer, void* host, unsigned) {
  const Lock lock(state.mutex);
  *pointer = reinterpret_cast<Pointer>(host);
  return is_device(*pointer, 1) ? ready() : kInvalidValue;
}
Result pointer_attribute(void* answer, int which, Pointer pointer) {
  const Lock lock(state.mutex);
  if (!is_device(pointer, 1)) return kInvalidValue;
  if (which == kAttributeRangeStart || which == kAttributeRangeSize) {
    for (const auto* blocks : {&state.memory, &state.registered})
      for (const auto& [begin, bytes] : *blocks) {
        if (host_of(pointer) < begin || host_of(pointer) >= begin + bytes) continue;
        const uint64_t range[] = {reinterpret_cast<Pointer>(begin), bytes};
        return std::memcpy(answer, &range[which == kAttributeRangeSize], 8), ready();
      }
  }
  const bool is_host = state.pinned.contains(host_of(pointer));
  const int value = which == kAttributeOrdinal ? 0 : is_host ? kMemoryHost : 2;
  return std::memcpy(answer, &value, sizeof value), ready();
}

static Result copy_any(char* target, const char* source, std::size_t bytes, Stream stream) {
  if (const Result code = ready()) return code;
  return enqueue_at_once(stream, [=] { std::memmove(target, source, bytes); });
}
Result copy_in(Pointer target, const void* source, std::size_t bytes, Stream stream) {
  const Lock lock(state.mutex);
  if (!is_device(target, bytes)) return kInvalidValue;
  return copy_any(host_of(target), static_cast<const char*>(source), bytes, stream);
}
Result copy_out(void* target, Pointer source, std::size_t bytes, Stream stream) {
  const Lock lock(state.mutex);
  if (!is_device(source, bytes)) return kInvalidValue;
  return copy_any(static_cast<char*>(target), host_of(source), bytes, stream);
}
Result copy_across(Pointer target, Pointer source, std::size_t bytes, Stream stream) {
  const Lock lock(state.mutex);
  if (!is_device(source, bytes) || !is_device(target, bytes)) return kInvalidValue;
  return copy_any(host_of(target), host_of(source), bytes, stream);
}
Result copy_2d(const Copy2D* c, Stream stream) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (c->source_pitch < c->width || c->target_pitch < c->width) return kInvalidValue;
  if (c->source_pitch > (1u << 20) || c->target_pitch > (1u << 20)) return kInvalidValue;
  const bool from_host = c->source_type == kMemoryHost, to_host = c->target_type == kMemoryHost;
  const auto span = [&](std::size_t pitch) { return (c->height - 1) * pitch + c->width; };
  if (!from_host && !is_device(c->source_device, span(c->source_pitch))) return kInvalidValue;
  if (!to_host && !is_device(c->target_device, span(c->target_pitch))) return kInvalidValue;
  const auto* source =
      from_host ? static_cast<const char*>(c->source_host) : host_of(c->source_device);
  auto* target = to_host ? static_cast<char*>(c->target_host) : host_of(c->target_device);
  return enqueue_at_once(stream, [=, box = *c] {
    for (std::size_t row = 0; row < box.height; ++row) {
      std::memmove(target + row * box.target_pitch, source + row * box.source_pitch, box.width);
    }
  });
}
template <class Word>
static Result fill(Pointer at, Word value, std::size_t n, Stream stream) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!is_device(at, n * sizeof value) || at % sizeof value) return kInvalidValue;
  return enqueue_at_once(stream, [=] {
    for (std::size_t i = 0; i < n; ++i)
      std::memcpy(host_of(at) + i * sizeof value, &value, sizeof value);
  });
}

Result fill_8(Pointer at, unsigned char value, std::size_t n, Stream stream) {
  return fill(at, value, n, stream);
}
Result fill_16(Pointer at, unsigned short value, std::size_t n, Stream stream) {
  return fill(at, value, n, stream);
}
Result fill_32(Pointer at, unsigned value, std::size_t n, Stream stream) {
  return fill(at, value, n, stream);
}

}  // namespace fake_cuda
