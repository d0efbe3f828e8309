// Structs across the ABI: each begins with `size`, its sizeof as its writer knows it. The reader
// takes the fields both know; a tail that it doesn't know must be zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace trine::kit {

/// Copies a foreign struct into ours; what the writer didn't know becomes zero. False when the
/// writer set something that we don't know, or wrote less than `minimum` bytes.
template <class T>
bool take(const T* foreign, T& ours, std::size_t minimum = sizeof(uint32_t)) noexcept {
  ours = T{};
  if (!foreign || foreign->size < minimum || foreign->size < sizeof(uint32_t)) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(foreign);
  for (std::size_t at = sizeof(T); at < foreign->size; ++at) {
    if (bytes[at] != 0) return false;
  }
  std::memcpy(static_cast<void*>(&ours), foreign,
              foreign->size < sizeof(T) ? foreign->size : sizeof(T));
  ours.size = sizeof(T);
  return true;
}

/// A foreign struct to read: itself where it is as large as ours, else what take() makes of it, in
/// `storage`; nullptr where that is refused.
template <class T>
const T* read(const T* foreign, T& storage, std::size_t minimum = sizeof(uint32_t)) noexcept {
  if (foreign && foreign->size == sizeof(T)) return foreign;
  return take(foreign, storage, minimum) ? &storage : nullptr;
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

/// The functions that every backend's table has, by what they are about. A backend whose functions have the
/// fields' names sets them by TRINE_SET of a table called `table`; the registry looks for each.
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
