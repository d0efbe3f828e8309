// The proof that a rung's tensor cores compute the ascending chain of fused multiply-adds: what to
// multiply on the device, and what bits must come back. Only gemm_hopper_variants.cpp includes it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "backends/gpu/variant.hpp"
#include "backends/kit/bits.hpp"

namespace trine::gpu::gemm_check {

// The self-check multiplies kM x kK by kK x kN and wants the bits of the chain. Row classes tell
// rival orders apart: full mantissas (any other association rounds elsewhere), values that cancel
// over 2^+-64 (a wider or truncated accumulator, a descending one), products below 2^-1022 (flushed
// ones), and signed zeros. All rows and columns have an odd length, because a kernel may be for
// these alone.
constexpr int64_t kM = 32, kN = 31, kK = 53;

inline double value_of(uint64_t index, int64_t kind) {
  uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 31)) * 0xbf58476d1ce4e5b9u;
  bits ^= bits >> 29;
  const double sign = (bits & 1) != 0 ? -1.0 : 1.0;
  const double value = sign * (1.0 + static_cast<double>(bits >> 12) * 0x1p-52);
  switch (kind) {
    case 0: return value;
    case 1: return std::ldexp(value, static_cast<int>(bits >> 1 & 63) - 32);
    case 2: return std::ldexp(value, -520);
    default: return (bits >> 1 & 7) == 0 ? std::ldexp(value, -540) : sign * 0.0;
  }
}

template <class T>
void fill(void* input) {
  T* values = static_cast<T*>(input);
  for (int64_t i = 0; i < kM * kK; ++i)
    values[i] = static_cast<T>(value_of(static_cast<uint64_t>(i), i / kK % 4));
  for (int64_t j = 0; j < kN * kK; ++j)
    values[kM * kK + j] =
        static_cast<T>(value_of(static_cast<uint64_t>(kM * kK + j), j / kK / 4 % 4));
}

template <class T>
trine_gemm operation(void* input, void* output) {
  trine_gemm op{};
  op.size = sizeof op;
  op.numerics = TRINE_REPRODUCIBLE;
  if constexpr (sizeof(T) == 8) {
    op.dtype = TRINE_F64;
    op.alpha.f64 = 1;
  } else {
    op.dtype = TRINE_F32;
    op.alpha.f32 = 1;
  }
  op.a = {input, 0, kM, kK, 1, kK, 1, 0};
  op.b = {input, kM * kK * sizeof(T), kK, kN, 1, 1, kK, 0};
  op.c = {output, 0, kM, kN, 1, kN, 1, 0};
  return op;
}

template <class T>
bool passes(const void* input, const void* output) {
  const T* a = static_cast<const T*>(input);
  const T* b = a + kM * kK;
  const T* c = static_cast<const T*>(output);
  for (int64_t i = 0; i < kM; ++i)
    for (int64_t j = 0; j < kN; ++j) {
      T acc = 0;
      for (int64_t l = 0; l < kK; ++l) acc = std::fma(a[i * kK + l], b[j * kK + l], acc);
      acc += T(0);
      // Bits, not values.
      if (kit::bits_of(acc) != kit::bits_of(c[i * kN + j])) return false;
    }
  return true;
}

/// The check of a rung for T whose launches `plan` makes.
template <class T>
constexpr SelfCheck of(void (*plan)(const Target&, void* input, void* output, Plan& plan)) {
  return {(kM + kN) * kK * sizeof(T), kM * kN * sizeof(T), fill<T>, plan, passes<T>};
}

}  // namespace trine::gpu::gemm_check
