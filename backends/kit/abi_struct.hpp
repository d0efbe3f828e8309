// Structs across an interface, the contract's and the C API's: each begins with `size`, its sizeof
// as its writer knows it. The reader takes the fields both know; a tail that it doesn't know must
// be zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../abi.h"

namespace trine::kit {

/// The sizes that a struct has had, version by version; the last is today's. A struct that grows
/// gets its list here:
///   template <>
///   inline constexpr std::size_t sizes_of<trine_rung>[] = {64, sizeof(trine_rung)};
template <class T>
inline constexpr std::size_t sizes_of[] = {sizeof(T)};
template <>
inline constexpr std::size_t sizes_of<trine_backend>[] = {352, sizeof(trine_backend)};

/// Whether a writer of any version may say this size: one that is smaller than ours and no earlier
/// version's ends within a field, or lacks some that were always there.
template <class T>
constexpr bool is_size_of(std::size_t size) noexcept {
  for (const std::size_t known : sizes_of<T>)
    if (size == known) return true;
  return size > sizeof(T);
}

/// Copies a foreign struct of `size` bytes into ours; what the writer didn't know becomes zero.
/// False where no version has that size, or the writer set something that we don't know.
template <class T>
bool take(const T* foreign, T& ours, std::size_t size) noexcept {
  ours = T{};
  if (!is_size_of<T>(size)) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(foreign);
  for (std::size_t at = sizeof(T); at < size; ++at) {
    if (bytes[at] != 0) return false;
  }
  std::memcpy(static_cast<void*>(&ours), foreign, size < sizeof(T) ? size : sizeof(T));
  ours.size = sizeof(T);
  return true;
}
/// The same of the size that it says itself.
template <class T>
bool take(const T* foreign, T& ours) noexcept {
  if (foreign) return take(foreign, ours, foreign->size);
  ours = T{};
  return false;
}

/// A foreign struct to read: itself where it is as large as ours, else what take() makes of it, in
/// `storage`; nullptr where that is refused.
template <class T>
const T* read(const T* foreign, T& storage) noexcept {
  if (foreign && foreign->size == sizeof(T)) return foreign;
  return take(foreign, storage) ? &storage : nullptr;
}

/// Answers into a foreign struct whose `size` its owner has set: writes the fields both know,
/// leaves `size` and any tail alone.
template <class T>
void give(const T& ours, T* foreign) noexcept {
  const std::size_t bytes = foreign->size < sizeof(T) ? foreign->size : sizeof(T);
  if (bytes <= sizeof(uint32_t)) return;
  std::memcpy(reinterpret_cast<unsigned char*>(foreign) + sizeof(uint32_t),
              reinterpret_cast<const unsigned char*>(&ours) + sizeof(uint32_t),
              bytes - sizeof(uint32_t));
}

/// Element `index` of an array whose writer's element size is `stride`.
template <class T>
const T* element(const T* array, std::size_t index, std::size_t stride) noexcept {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(array) + index * stride);
}

}  // namespace trine::kit

/// The functions that every backend's table has, by what they are about. A backend whose functions
/// have the fields' names sets them by TRINE_SET of a table called `table`; the registry looks for
/// each.
// clang-format off
#define TRINE_DEVICE_FUNCTIONS(X) \
  X(device_count) X(device_describe) X(device_open) X(device_close) X(device_facts) X(device_native)
#define TRINE_QUEUE_FUNCTIONS(X) \
  X(queue_create) X(queue_adopt) X(queue_destroy) X(queue_native) X(queue_flush) X(queue_wait) \
  X(queue_query) X(queue_wait_event) X(event_create) X(event_destroy) X(event_record) \
  X(event_signal) X(event_query) X(event_wait) X(event_notify) X(event_elapsed)
#define TRINE_BUFFER_FUNCTIONS(X) \
  X(buffer_allocate) X(buffer_adopt) X(buffer_wrap) X(buffer_free) X(buffer_facts) X(copy) X(fill)
#define TRINE_OPERATION_FUNCTIONS(X) X(rungs) X(refuses) X(choose) X(workspace_bytes) X(launch)
#define TRINE_SET(field) table.field = field;
// clang-format on
