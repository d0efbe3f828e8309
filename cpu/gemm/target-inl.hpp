// The table of one target's kernels for one dtype: tile sizes by register file.
//
// Included once per target.
#include "gemm/pack-inl.hpp"
#include "gemm/tile-inl.hpp"

#if defined(TRINE_CPU_GEMM_TARGET_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRINE_CPU_GEMM_TARGET_INL_HPP
#undef TRINE_CPU_GEMM_TARGET_INL_HPP
#else
#define TRINE_CPU_GEMM_TARGET_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {

template <class T, int kVectors, int... kHeights>
constexpr gemm::Kernels<T> kernels_with(std::integer_sequence<int, kHeights...>) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));
  return {{kHeights...},
          sizeof...(kHeights),
          kVectors * kLanes,
          kLanes,
          {compute_tile<kHeights, kVectors, T>...},
          {compute_tile<kHeights, 1, T>...},
          pack<T>};
}

template <class T>
const gemm::Kernels<T>& table() {
  // 32 registers: 28 accumulators, 2 of B, 1 broadcast. On one AVX-512 core at 2048, sgemm, against
  // OpenBLAS in the same run: 14 x 2 0.90, 13 x 2 0.90, 12 x 2 0.90, 9 x 3 0.90, 8 x 3 0.90,
  // 6 x 4 0.89: no difference, so the one that packs and reads C least per fma.
#if HWY_TARGET == HWY_AVX3
  constexpr int kVectors = 2;
  using Heights = std::integer_sequence<int, 1, 2, 4, 8, 14>;
#elif HWY_TARGET == HWY_AVX2  // 16 registers: 12 accumulators, 2 of B, 1 broadcast
  constexpr int kVectors = 2;
  using Heights = std::integer_sequence<int, 1, 2, 4, 6>;
#else
  constexpr int kVectors = 2;
  using Heights = std::integer_sequence<int, 1, 2, 4>;
#endif
  static constexpr gemm::Kernels<T> kTable = kernels_with<T, kVectors>(Heights());
  return kTable;
}

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // once per target
