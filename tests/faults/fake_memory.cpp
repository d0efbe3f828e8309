// The fake driver's memory: host memory, watched for what lies outside of it.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "fake_state.hpp"

namespace fake_cuda {

Result allocate(Pointer* pointer, std::size_t bytes) {
  const Lock lock(state.mutex);
  if (const Result code = ready_beside_captures()) return code;
  std::size_t used = bytes;
  for (const auto& [block, size] : state.memory) used += size;
  if (used > kTotalMemory) return kOutOfMemory;
  auto* block = static_cast<char*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(block, 0xcd, std::min(bytes, kTotalMemory / 8));  // nobody looks through more
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
Result allocate_async(Pointer* pointer, std::size_t bytes, Stream stream) {
  const Lock lock(state.mutex);
  if (const Result code = allocate(pointer, bytes)) return code;
  const auto again = state.unused.lower_bound(bytes);
  again == state.unused.end() ? void(++state.context.mapped) : void(state.unused.erase(again));
  if (!state.is_memory_late) return kSuccess;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  return enqueue(stream, [limit, waits = host_waits()] {
    return host_waits() > waits || std::chrono::steady_clock::now() > limit;
  });
}
Result deallocate_async(Pointer pointer, Stream) {
  const Lock lock(state.mutex);
  const auto block = state.memory.find(host_of(pointer));
  if (block != state.memory.end()) state.unused.insert(block->second);
  return deallocate(pointer);
}
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
static void pointer_attribute(void* answer, int which, Pointer pointer) {
  const bool known = is_device(pointer, 1);
  if (which == kAttributeRangeStart || which == kAttributeRangeSize) {
    uint64_t range[] = {0, 0};
    for (const auto* blocks : {&state.memory, &state.registered})
      for (const auto& [begin, bytes] : *blocks)
        if (known && host_of(pointer) >= begin && host_of(pointer) < begin + bytes)
          range[0] = reinterpret_cast<Pointer>(begin), range[1] = bytes;
    std::memcpy(answer, &range[which == kAttributeRangeSize], 8);
    return;
  }
  const bool is_host = state.pinned.contains(host_of(pointer));
  const int value = !known || which == kAttributeOrdinal ? 0 : is_host ? kMemoryHost : 2;
  std::memcpy(answer, &value, sizeof value);
}
Result pointer_attributes(unsigned count, const int* which, void** answers, Pointer pointer) {
  const Lock lock(state.mutex);
  for (unsigned i = 0; i < count; ++i) pointer_attribute(answers[i], which[i], pointer);
  return ready();
}

// --- Copies -------------------------------------------------------------------------------------

namespace {

struct Rows {
  char* target;
  const char* source;
  std::size_t target_pitch, source_pitch, width, height;

  std::size_t span(std::size_t pitch) const { return (height - 1) * pitch + width; }
  void move() const {
    for (std::size_t row = 0; row < height; ++row)
      std::memmove(target + row * target_pitch, source + row * source_pitch, width);
  }
  // The same of what lies at [first, last) when the rows stand side by side.
  void move(std::size_t first, std::size_t last) const {
    for (std::size_t row = 0; row < height; ++row) {
      const std::size_t begin = std::clamp(first, row * width, (row + 1) * width) - row * width;
      const std::size_t end = std::clamp(last, row * width, (row + 1) * width) - row * width;
      std::memmove(target + row * target_pitch + begin, source + row * source_pitch + begin,
                   end - begin);
    }
  }
};

// Returns when the work has run. The lock is off meanwhile, since others must move on.
Result enqueue_and_wait(Stream stream, const std::function<void()>& work,
                        std::unique_lock<std::recursive_mutex>& lock) {
  const auto done = std::make_shared<bool>();
  Result code = enqueue_at_once(stream, [work, done] { work(), *done = true; });
  while (code == kSuccess && (pump(), !*done)) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
    code = ready();
  }
  return code;
}

// Takes host memory that isn't pinned as the real driver does (measured): at the call, before the
// stream's turn. If there is more than 1 MiB, it takes the first 2 MiB then, and returns when all
// is done.
Result copy_from_pageable(const Rows& rows, Stream stream,
                          std::unique_lock<std::recursive_mutex>& lock) {
  const std::size_t all = rows.width * rows.height, at_once = std::min<std::size_t>(all, 2 << 20);
  const auto room = std::make_shared<std::vector<char>>(all);
  Rows in = rows, out = rows;
  in.target = room->data(), out.source = room->data();
  in.target_pitch = out.source_pitch = rows.width;
  in.move(0, at_once);
  const auto write = [=] {
    in.move(at_once, room->size());
    out.move();
  };
  return all <= 1 << 20 ? enqueue_at_once(stream, write) : enqueue_and_wait(stream, write, lock);
}

enum class Way { from_host, to_host, within };

Result copy_rows(const Rows& rows, Way way, Stream stream) {
  std::unique_lock lock(state.mutex);
  if (const Result code = ready()) return code;
  const auto is_known = [](const char* begin, std::size_t bytes) {
    return is_device(reinterpret_cast<Pointer>(begin), bytes);
  };
  const bool from_known = is_known(rows.source, rows.span(rows.source_pitch));
  const bool to_known = is_known(rows.target, rows.span(rows.target_pitch));
  if (way != Way::from_host && !from_known) return kInvalidValue;
  if (way != Way::to_host && !to_known) return kInvalidValue;
  if (way != Way::within)
    note(way == Way::to_host ? Enqueued::kCopyOut : Enqueued::kCopyIn, stream);
  if (!from_known) return copy_from_pageable(rows, stream, lock);
  const auto move = [rows] { rows.move(); };
  return to_known ? enqueue_at_once(stream, move) : enqueue_and_wait(stream, move, lock);
}
Result copy_line(const void* target, const void* source, std::size_t bytes, Way way,
                 Stream stream) {
  return copy_rows({static_cast<char*>(const_cast<void*>(target)), static_cast<const char*>(source),
                    bytes, bytes, bytes, 1},
                   way, stream);
}

}  // namespace

Result copy_in(Pointer target, const void* source, std::size_t bytes, Stream stream) {
  return copy_line(host_of(target), source, bytes, Way::from_host, stream);
}
Result copy_out(void* target, Pointer source, std::size_t bytes, Stream stream) {
  return copy_line(target, host_of(source), bytes, Way::to_host, stream);
}
Result copy_across(Pointer target, Pointer source, std::size_t bytes, Stream stream) {
  return copy_line(host_of(target), host_of(source), bytes, Way::within, stream);
}
Result copy_2d(const Copy2D* c, Stream stream) {
  if (c->source_pitch < c->width || c->target_pitch < c->width) return kInvalidValue;
  if (c->source_pitch > (1u << 20) || c->target_pitch > (1u << 20)) return kInvalidValue;
  const bool from_host = c->source_type == kMemoryHost, to_host = c->target_type == kMemoryHost;
  const auto* source =
      from_host ? static_cast<const char*>(c->source_host) : host_of(c->source_device);
  auto* target = to_host ? static_cast<char*>(c->target_host) : host_of(c->target_device);
  return copy_rows({target, source, c->target_pitch, c->source_pitch, c->width, c->height},
                   from_host ? Way::from_host
                   : to_host ? Way::to_host
                             : Way::within,
                   stream);
}

// --- Fills --------------------------------------------------------------------------------------

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
