// A value's bits, to be compared where -0 and 0 differ, or a NaN and itself don't, and where the
// caller may have told its thread to take denormals for zero.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "backends/ops.h"

namespace trine::kit {

template <class T>
std::array<std::byte, sizeof(T)> bits_of(T value) {
  return std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
}

inline bool is_zero(float x) { return std::bit_cast<uint32_t>(x) << 1 == 0; }
inline bool is_zero(double x) { return std::bit_cast<uint64_t>(x) << 1 == 0; }
inline bool is_zero(uint32_t dtype, const trine_scalar& x) {
  if (dtype == TRINE_F32) return is_zero(x.f32);
  return dtype == TRINE_F64 ? is_zero(x.f64) : x.i32 == 0;
}

/// Do the chains of the product begin at c, and count?
inline bool continues(const trine_gemm& op) {
  return trine_continues(&op) && !is_zero(op.dtype, op.alpha);
}

}  // namespace trine::kit
