// micro_kernel's inner parts, compiled for every SIMD target, with tile sizes by its register file.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/kernels.cpp"
#include "gemm/kernels.hpp"
#include "hwy/cache_control.h"
#include "simd.hpp"

#include "transpose/registers-inl.hpp"

#include "gemm/chain-inl.hpp"
#include "gemm/pack-inl.hpp"

#include "gemm/exact-inl.hpp"
#include "gemm/tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

template <class T, From kFrom>
constexpr auto pack_panel() {
  if constexpr (kFrom == From::kHalves) {
    return pack_halves;
  } else {
    return pack<T>;
  }
}

// 32 registers: 28 accumulators, 2 of B, 1 broadcast. Tiles of 14 x 2 to 6 x 4 are equally fast, so
// this is the one that packs and reads C least for each fma. In place, tiles of three vectors have
// 24 accumulators.
#if HWY_TARGET <= HWY_AVX3
constexpr int kMostVectors = 3;
using Heights = std::integer_sequence<int, 1, 2, 4, 8, 12, 14>;
using LowHeights = std::integer_sequence<int, 1, 2, 4, 8>;
using PairHeights = std::integer_sequence<int, 1, 2, 4, 6>;  // with two accumulators a result
#elif HWY_TARGET == HWY_AVX2  // 16 registers: 12 accumulators, 2 of B, 1 broadcast
constexpr int kMostVectors = 2;
using Heights = std::integer_sequence<int, 1, 2, 4, 6>;
using LowHeights = Heights;
using PairHeights = std::integer_sequence<int, 1, 2>;
#else
constexpr int kMostVectors = 2;
using Heights = std::integer_sequence<int, 1, 2, 4>;
using LowHeights = Heights;
using PairHeights = std::integer_sequence<int, 1, 2>;
#endif

template <class T>
using PlaceHeights = std::conditional_t<hwy::IsFloat<T>(), Heights, LowHeights>;

template <class T, int kVectors, int... kHeights>
constexpr gemm::TilesInPlace<T> tiles_in_place(std::integer_sequence<int, kHeights...>) {
  return {{{kHeights...}, sizeof...(kHeights)},
          {compute_tile<kHeights, kVectors, From::kWholePlace, T>...},
          {compute_tile<kHeights, kVectors, From::kPlace, T>...}};
}

// A target whose tiles have at most two vectors has none of three: these would lack a third of
// their columns.
template <class T>
constexpr gemm::TilesInPlace<T> threes() {
  if constexpr (kMostVectors == 3) {
    return tiles_in_place<T, 3>(LowHeights());
  } else {
    return {};
  }
}

template <class T>
constexpr typename gemm::Kernels<T>::FoursFunction fours() {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) return multiply_fours<T>;
#endif
  return nullptr;
}

template <class T, From kFrom = From::kPanels, int... kHeights>
constexpr gemm::Kernels<T> kernels_with(std::integer_sequence<int, kHeights...>) {
  constexpr int kVectors = 2, kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));
  return {{{{kHeights...}, sizeof...(kHeights)}, kVectors * kLanes, kLanes},
          {compute_tile<kHeights, kVectors, kFrom, T>...},
          {compute_tile<kHeights, 1, kFrom, T>...},
          kMostVectors,
          {tiles_in_place<T, 1>(PlaceHeights<T>()), tiles_in_place<T, 2>(PlaceHeights<T>()),
           threes<T>()},
          pack<T>,
          pack_panel<T, kFrom>(),
          multiply_across<T>,
          multiply_along<T>,
          multiply_one<T>,
          fours<T>()};
}

// Tiles of chains in f64, for f32.
template <int... kHeights>
constexpr gemm::ExactKernels<float> exact_chains(std::integer_sequence<int, kHeights...>) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<double>()));
  return {{{{kHeights...}, sizeof...(kHeights)}, 2 * kLanes, kLanes},
          {compute_tile<kHeights, 2, From::kPanels, double>...},
          {compute_tile<kHeights, 1, From::kPanels, double>...},
          pack_measured<float>,
          add_terms,
          finish_exact<float>};
}
// Tiles of chains of pairs, for f64.
template <int... kHeights>
constexpr gemm::ExactKernels<double> exact_pairs(std::integer_sequence<int, kHeights...>) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<double>()));
  return {{{{kHeights...}, sizeof...(kHeights)}, 2 * kLanes, kLanes},
          {compute_pairs<kHeights, 2>...},
          {compute_pairs<kHeights, 1>...},
          pack_measured<double>,
          nullptr,
          finish_exact<double>};
}

const gemm::AllKernels& all_kernels() {
  static constexpr gemm::AllKernels kAll{
      kernels_with<float>(Heights()), kernels_with<double>(Heights()),
      kernels_with<std::uint32_t>(Heights()), exact_chains(Heights()), exact_pairs(PairHeights())};
#if HWY_TARGET <= HWY_AVX3
  // Intel's 32-bit multiplication is two instructions, so halves of 16 bits are faster there; AMD's
  // is one. 24 accumulators, 4 of B, 2 broadcasts.
  static constexpr gemm::AllKernels kByHalves{
      std::get<0>(kAll), std::get<1>(kAll),
      kernels_with<std::uint32_t, From::kHalves>(std::integer_sequence<int, 1, 2, 4, 6>()),
      std::get<3>(kAll), std::get<4>(kAll)};
  static const bool by_halves = __builtin_cpu_is("intel") && __builtin_cpu_supports("avx512vnni");
  if (by_halves) return kByHalves;
#endif
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
