// Host memory for a backend or a rung pack, through the services that the host handed over at the
// entry (trine_host): the one seam where a test fails the Nth allocation.
//
//   struct Queue : kit::Allocated { … };   new Queue goes through the host, throws std::bad_alloc
//   kit::Vector<int> list;                 so does a container
#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <vector>

#include "../abi.h"

namespace trine::kit {

/// The host of this module: the entry stores it, once, before anything is allocated.
inline trine_host& host() noexcept {
  static trine_host services{};
  return services;
}

inline void use_host(const trine_host& services) noexcept { host() = services; }

/// Null when there is no memory.
inline void* allocate(std::size_t bytes, std::size_t alignment = 64) noexcept {
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the entry has stored it
  return host().allocate(host().context, bytes, alignment);
}
inline void release(void* pointer) noexcept {
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the same
  if (pointer) host().release(host().context, pointer);
}

/// Base of objects that live in the host's memory.
struct Allocated {
  static void* operator new(std::size_t bytes) { return checked(bytes, alignof(std::max_align_t)); }
  static void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return checked(bytes, static_cast<std::size_t>(alignment));
  }
  static void operator delete(void* pointer) noexcept { release(pointer); }
  static void operator delete(void* pointer, std::align_val_t) noexcept { release(pointer); }

 private:
  static void* checked(std::size_t bytes, std::size_t alignment) {
    if (void* pointer = allocate(bytes, alignment)) return pointer;
    throw std::bad_alloc();
  }
};

/// A standard allocator over the same memory.
template <class T>
struct Allocator {
  using value_type = T;
  Allocator() = default;
  template <class Other>
  Allocator(const Allocator<Other>&) noexcept {}
  T* allocate(std::size_t count) {
    void* pointer = count > static_cast<std::size_t>(-1) / sizeof(T)
                        ? nullptr
                        : kit::allocate(count * sizeof(T), alignof(T));
    if (!pointer) throw std::bad_alloc();
    return static_cast<T*>(pointer);
  }
  void deallocate(T* pointer, std::size_t) noexcept { release(pointer); }
  template <class Other>
  bool operator==(const Allocator<Other>&) const noexcept {
    return true;
  }
};

template <class T>
using Vector = std::vector<T, Allocator<T>>;
using String = std::basic_string<char, std::char_traits<char>, Allocator<char>>;

}  // namespace trine::kit
