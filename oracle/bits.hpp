// Floating-point formats as bits, dtypes as C++ types, and views as typed elements on the host.
#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "backends/ops.h"

namespace trine::oracle {

template <class T>
struct FloatBits;

template <>
struct FloatBits<float> {
  using Bits = uint32_t;
  static constexpr int kMantissaBits = 23, kExponentMax = 255;
  static constexpr int kLowestExponent = -149;  ///< of the last place of a denormal
  static constexpr Bits kSign = 0x80000000, kMantissaMask = 0x7fffff, kExponentMask = 0x7f800000;
  static constexpr Bits kQuietNan = 0x7fc00000;
};

template <>
struct FloatBits<double> {
  using Bits = uint64_t;
  static constexpr int kMantissaBits = 52, kExponentMax = 2047;
  static constexpr int kLowestExponent = -1074;
  static constexpr Bits kSign = Bits{1} << 63, kMantissaMask = (Bits{1} << 52) - 1;
  static constexpr Bits kExponentMask = Bits{0x7ff} << 52, kQuietNan = Bits{0xfff} << 51;
};

/// 16 bytes that are only moved.
struct Bits128 {
  uint64_t low, high;
  bool operator==(const Bits128&) const = default;
};

template <class T>
bool is_nan_bits(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    using F = FloatBits<T>;
    return (std::bit_cast<typename F::Bits>(value) & ~F::kSign) > F::kExponentMask;
  } else {
    return false;
  }
}

/// Calls body with a value of the C++ type of `dtype`; the B… dtypes are unsigned integers.
template <class Body>
decltype(auto) with_dtype(uint32_t dtype, Body&& body) {
  switch (dtype) {
    case TRINE_F32: return body(float{});
    case TRINE_F64: return body(double{});
    case TRINE_I32: return body(int32_t{});
    case TRINE_I64: return body(int64_t{});
    case TRINE_U32: return body(uint32_t{});
    case TRINE_U64: return body(uint64_t{});
    case TRINE_B8: return body(uint8_t{});
    case TRINE_F16:
    case TRINE_BF16:
    case TRINE_B16: return body(uint16_t{});
    case TRINE_B32: return body(uint32_t{});
    case TRINE_B64: return body(uint64_t{});
    case TRINE_B128: return body(Bits128{});
    default: throw std::invalid_argument("oracle: unknown dtype " + std::to_string(dtype));
  }
}

/// As printf's %g with so many digits has it, in no locale.
inline std::string digits(double value, int most) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, most);
  return {text, end.ptr};
}

/// The dtype that names plain bits of this size.
inline uint32_t bits_dtype(uint32_t element_size) {
  switch (element_size) {
    case 1: return TRINE_B8;
    case 2: return TRINE_B16;
    case 4: return TRINE_B32;
    case 8: return TRINE_B64;
    case 16: return TRINE_B128;
    default: throw std::invalid_argument("oracle: no element of this size");
  }
}

/// The word of a value that counts from 1; "?" for one that there isn't.
template <size_t kCount>
constexpr const char* word_of(const char* const (&words)[kCount], uint32_t value) {
  return value - 1 < kCount ? words[value - 1] : "?";
}
/// "f32", "b128" …
const char* dtype_name(uint32_t dtype);

/// The bytes of a host view's element (0, 0, 0).
inline char* origin(const trine_view& view) {
  return static_cast<char*>(view.memory) + view.offset;
}

/// An element at any address: views are aligned to the element at best.
template <class T>
T load(const char* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}
template <class T>
void store(char* address, T value) {
  std::memcpy(address, &value, sizeof value);
}

/// Byte offset of element (b, i, j) from the origin.
inline int64_t element_offset(const trine_view& v, int64_t size, int64_t b, int64_t i, int64_t j) {
  return size * (b * v.batch_stride + i * v.row_stride + j * v.col_stride);
}

}  // namespace trine::oracle
