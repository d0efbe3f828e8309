// A value's bytes, to be compared where -0 and 0 differ, or a NaN and itself don't.
#pragma once

#include <array>
#include <bit>
#include <cstddef>

namespace trine::kit {

template <class T>
std::array<std::byte, sizeof(T)> bits_of(T value) {
  return std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
}

}  // namespace trine::kit
