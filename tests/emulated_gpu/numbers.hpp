// The vectors of kernels that are compiled as host C++: whatever is read or written as one is held
// against the memory that it may touch, to the byte, as a GPU's checker of memory does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace emulated {

/// Memory whose vectors are checked: those that touch [pages, pages_end) must lie in [begin, end),
/// at multiples of their size.
struct Extent {
  const char *pages, *pages_end, *begin, *end;
};
inline std::vector<Extent> extents;
/// Vectors that didn't, in words.
inline std::vector<std::string> outside;

inline void expect_inside(const void* place, std::size_t bytes) {
  const char* const at = static_cast<const char*>(place);
  for (const Extent& one : extents) {
    if (at >= one.pages_end || at + bytes <= one.pages) continue;
    const bool inside = at >= one.begin && at + bytes <= one.end;
    const bool aligned = reinterpret_cast<std::uintptr_t>(at) % bytes == 0;
    if (inside && aligned) continue;
    outside.push_back(std::to_string(bytes) + " bytes from byte " + std::to_string(at - one.begin) +
                      " of " + std::to_string(one.end - one.begin) +
                      (aligned ? "" : ", an address that they can't have"));
  }
}

/// COUNT numbers that are copied at once.
template <class Number, int COUNT>
struct alignas(COUNT * sizeof(Number)) Numbers {
  Number x, y, z, w;
  Numbers() = default;
  Numbers(Number a, Number b, Number c, Number d) : x(a), y(b), z(c), w(d) {}
  Numbers(const Numbers& from) : Numbers(from.x, from.y, from.z, from.w) {
    expect_inside(&from, sizeof from);
  }
  Numbers& operator=(const Numbers& from) {
    expect_inside(&from, sizeof from);
    expect_inside(this, sizeof from);
    x = from.x, y = from.y, z = from.z, w = from.w;
    return *this;
  }
};
template <class Number>
struct alignas(2 * sizeof(Number)) Numbers<Number, 2> {
  Number x, y;
  Numbers() = default;
  Numbers(Number a, Number b) : x(a), y(b) {}
  Numbers(const Numbers& from) : Numbers(from.x, from.y) { expect_inside(&from, sizeof from); }
  Numbers& operator=(const Numbers& from) {
    expect_inside(&from, sizeof from);
    expect_inside(this, sizeof from);
    x = from.x, y = from.y;
    return *this;
  }
};

}  // namespace emulated
