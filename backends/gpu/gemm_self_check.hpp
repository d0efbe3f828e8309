// The proof that a rung's tensor cores compute the ascending chain of fused multiply-adds: what to
// multiply on the device, and what bits must come back. Only gemm_variants.cpp includes it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "backends/ops.h"

namespace trine::gpu::gemm_check {

// The self-check multiplies kM x kK by kK x kN and wants the bits of the chain.
// Row classes tell rival orders apart: full mantissas (any other association rounds elsewhere),
// values that cancel over 2^+-40 (a wider or truncated accumulator, a descending one), products
// below 2^-1022 (flushed ones), and signed zeros.
constexpr int64_t kM = 32, kN = 32, kK = 52;

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

inline void fill(void* input) {
  double* values = static_cast<double*>(input);
  for (int64_t i = 0; i < kM * kK; ++i) values[i] = value_of(static_cast<uint64_t>(i), i / kK % 4);
  for (int64_t j = 0; j < kN * kK; ++j)
    values[kM * kK + j] = value_of(static_cast<uint64_t>(kM * kK + j), j / kK / 4 % 4);
}

inline trine_gemm operation(void* input, void* output) {
  trine_gemm op{};
  op.size = sizeof op;
  op.numerics = TRINE_REPRODUCIBLE;
  op.dtype = TRINE_F64;
  op.alpha.f64 = 1;
  op.a = {input, 0, kM, kK, 1, kK, 1, 0};
  op.b = {input, kM * kK * sizeof(double), kK, kN, 1, 1, kK, 0};
  op.c = {output, 0, kM, kN, 1, kN, 1, 0};
  return op;
}

inline bool passes(const void* input, const void* output) {
  const double* a = static_cast<const double*>(input);
  const double* b = a + kM * kK;
  const double* c = static_cast<const double*>(output);
  for (int64_t i = 0; i < kM; ++i)
    for (int64_t j = 0; j < kN; ++j) {
      double acc = 0;
      for (int64_t l = 0; l < kK; ++l) acc = std::fma(a[i * kK + l], b[j * kK + l], acc);
      acc += 0.0;
      // Bits, not values.
      if (std::bit_cast<uint64_t>(acc) != std::bit_cast<uint64_t>(c[i * kN + j])) return false;
    }
  return true;
}

constexpr uint64_t kInputBytes = (kM + kN) * kK * sizeof(double);
constexpr uint64_t kOutputBytes = kM * kN * sizeof(double);

}  // namespace trine::gpu::gemm_check
