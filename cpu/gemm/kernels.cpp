// micro_kernel's inner parts, compiled for every SIMD target, with tile sizes by its register file.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/kernels.cpp"
#include "gemm/kernels.hpp"
#include "hwy/cache_control.h"
#include "simd.hpp"

#include "transpose/registers-inl.hpp"

#include "gemm/chain-inl.hpp"
#include "gemm/pack-inl.hpp"
#include "gemm/tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

template <class T, int... kHeights>
constexpr gemm::Kernels<T> kernels_with(std::integer_sequence<int, kHeights...>) {
  constexpr int kVectors = 2, kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));
  return {{kHeights...},
          sizeof...(kHeights),
          kVectors * kLanes,
          kLanes,
          {compute_tile<kHeights, kVectors, true, T>...},
          {compute_tile<kHeights, 1, true, T>...},
          {compute_tile<kHeights, kVectors, false, T>...},
          {compute_tile<kHeights, 1, false, T>...},
          pack<T>,
          multiply_across<T>,
          multiply_one<T>};
}

// 32 registers: 28 accumulators, 2 of B, 1 broadcast. On one AVX-512 core at 2048, sgemm, against
// OpenBLAS in the same run: 14 x 2 0.90, 13 x 2 0.90, 12 x 2 0.90, 9 x 3 0.90, 8 x 3 0.90,
// 6 x 4 0.89: no difference, so the one that packs and reads C least per fma.
#if HWY_TARGET == HWY_AVX3
using Heights = std::integer_sequence<int, 1, 2, 4, 8, 12, 14>;
#elif HWY_TARGET == HWY_AVX2  // 16 registers: 12 accumulators, 2 of B, 1 broadcast
using Heights = std::integer_sequence<int, 1, 2, 4, 6>;
#else
using Heights = std::integer_sequence<int, 1, 2, 4>;
#endif

const gemm::AllKernels& all_kernels() {
  static constexpr gemm::AllKernels kAll{kernels_with<float>(Heights()),
                                         kernels_with<double>(Heights()),
                                         kernels_with<std::uint32_t>(Heights())};
  return kAll;
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(all_kernels);

const gemm::AllKernels& gemm::all_kernels() { return HWY_DYNAMIC_DISPATCH(all_kernels)(); }

}  // namespace trine::cpu
#endif
