// The parts that value classes are made of: bits to floats, and the places of elements in their
// lines.
#pragma once

#include <bit>
#include <limits>

#include "bits.hpp"
#include "philox.hpp"

namespace trine::oracle {

struct Fill;

/// An element's place in its line.
struct Place {
  int64_t line, position, length;
};

inline uint64_t line_hash(uint64_t seed, int64_t line) {
  return philox_bits(seed ^ 0x6c696e65, uint64_t(line));
}
inline uint64_t element_bits(uint64_t seed, const Place& at, int64_t position) {
  return philox_bits(seed, uint64_t(at.line * at.length + position));
}

/// 0 … 30, each half as likely as the one before. Exact: a power of two becomes a float.
inline uint32_t geometric(uint32_t bits) {
  const int32_t x = int32_t((bits & 0x3fffffff) | 0x40000000);
  return (std::bit_cast<uint32_t>(float(x & -x)) >> 23) - 127;
}

/// `count` exponent fields from `first` on.
struct Fields {
  uint32_t first, count;
};

template <class T>
struct Make {
  using F = FloatBits<T>;
  static constexpr bool kIsSingle = sizeof(T) == 4;

  static T assemble(uint64_t r, uint32_t field) {
    using Bits = typename F::Bits;
    return std::bit_cast<T>(
        Bits((Bits(r) & (F::kSign | F::kMantissaMask)) | Bits{field} << F::kMantissaBits));
  }
  static T within(uint64_t r, Fields single, Fields both) {
    if constexpr (kIsSingle)
      return assemble(r, single.first + uint32_t((r >> 32) * single.count >> 32));
    else
      return assemble(r, both.first + ((uint32_t(r >> 52) & 0x7ff) * both.count >> 11));
  }
  static T uniform(uint64_t r) {
    if constexpr (kIsSingle)
      return assemble(r, 126 - geometric(uint32_t(r >> 32)));
    else
      return assemble(r, 1022 - geometric((uint32_t(r >> 52) & 0x7ff) | 0x400));
  }
  static T wide(uint64_t r) { return within(r, {7, 240}, {123, 1800}); }
  static T mixed(uint64_t r) { return within(r, {0, 255}, {0, 2047}); }
  static T moderate(uint64_t r) { return within(r, {97, 60}, {993, 60}); }
  static T huge(uint64_t r) { return within(r, {252, 3}, {2044, 3}); }
  static T power(int exponent) {
    return assemble(0, uint32_t(exponent + std::numeric_limits<T>::max_exponent - 1));
  }
  static T underflow(uint64_t r) { return within(r, {47, 12}, {478, 18}); }
};

inline int32_t small_integer(uint64_t r) { return int32_t((r >> 32) * 17 >> 32) - 8; }

/// An element of one of product_values(). A line of axis EACH_ROW is a left operand's row, one of
/// EACH_COLUMN a right operand's column.
template <class T>
T product_element(const Fill& how, const Place& at);

}  // namespace trine::oracle
