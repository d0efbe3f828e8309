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

template <class T, int... kHeights>
constexpr gemm::Kernels<T> kernels_with(std::integer_sequence<int, kHeights...>) {
  constexpr int kWidth = 2 * static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));
  return {{kHeights...},         sizeof...(kHeights), kWidth,
          {compute_tile<kHeights, 2, T>...}, {compute_tile<kHeights, 1, T>...},
          pack<T>};
}

template <class T>
const gemm::Kernels<T>& table() {
#if HWY_TARGET == HWY_AVX3  // 32 registers: 28 accumulators, 2 of B, 1 broadcast
  using Heights = std::integer_sequence<int, 1, 2, 4, 8, 14>;
#elif HWY_TARGET == HWY_AVX2  // 16 registers: 12 accumulators, 2 of B, 1 broadcast
  using Heights = std::integer_sequence<int, 1, 2, 4, 6>;
#else
  using Heights = std::integer_sequence<int, 1, 2, 4>;
#endif
  static constexpr gemm::Kernels<T> kTable = kernels_with<T>(Heights());
  return kTable;
}

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // once per target
