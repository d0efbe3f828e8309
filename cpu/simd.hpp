// Google Highway as the CPU kernels use it: run-time dispatch, and fused steps that are fused
// everywhere.
//
// A kernel file begins with
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "gemm/naive.cpp"   // itself, as the compiler finds it
//   #include "simd.hpp"
//   #include "gemm/chain-inl.hpp"                 // what it is made of, in the order of use
// and is then compiled once per target, with all that it includes from here on: neither this file
// nor the
// `-inl.hpp` have include guards, so each is included once. Its kernels stand between
// HWY_BEFORE_NAMESPACE() and HWY_AFTER_NAMESPACE() in namespace trine::cpu::HWY_NAMESPACE; what is
// said once (HWY_EXPORT, HWY_DYNAMIC_DISPATCH) stands under #if HWY_ONCE.
//
// Targets without a fused MulAdd are disabled where Highway allows it (simd_targets.hpp). Its
// baseline (EMU128, or with an older g++ SCALAR, of one lane) can't be and has none either, so
// every fused step goes through `fused_multiply_add`.
#include "simd_targets.hpp"

#include "hwy/foreach_target.h"  // must precede highway.h
#include "hwy/highway.h"

#include <cmath>
#include <concepts>

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// a * b + c, rounded once.
template <std::floating_point T>
HWY_INLINE T fused_multiply_add(T a, T b, T c) {
  return std::fma(a, b, c);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V fused_multiply_add(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulAdd(a, b, c);
#else
  using T = hn::TFromD<D>;
  constexpr size_t kLanes = hn::MaxLanes(D());
  HWY_ALIGN T x[kLanes], y[kLanes], z[kLanes];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (size_t i = 0; i < hn::Lanes(d); ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(d, z);
#endif
}

// Loads and stores of some lanes that touch no other memory: where Highway makes masks of whole
// loads and blends (EMU128, SSE4, NEON; SCALAR's load), an operand that ends with a page would be
// read past its end. AVX2's words of 4 and 8 bytes are masked by the hardware.
#undef TRINE_MASKS_BY_HAND
#define TRINE_MASKS_BY_HAND \
  ((HWY_MEM_OPS_MIGHT_FAULT && HWY_TARGET != HWY_AVX2) || HWY_TARGET == HWY_SCALAR)
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_lanes(D d, hn::Mask<D> mask, const T* from) {
  static_assert(sizeof(T) >= 4);
#if TRINE_MASKS_BY_HAND
  if (hn::AllTrue(d, mask)) return hn::LoadU(d, from);
  HWY_ALIGN T chosen[hn::MaxLanes(D())], lanes[hn::MaxLanes(D())];
  hn::Store(hn::IfThenElseZero(mask, hn::Set(d, T(1))), d, chosen);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = chosen[i] != T(0) ? from[i] : T(0);
  return hn::Load(d, lanes);
#else
  return hn::MaskedLoad(mask, d, from);
#endif
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_lanes(D d, hn::Mask<D> mask, hn::Vec<D> v, T* to) {
  static_assert(sizeof(T) >= 4);
#if TRINE_MASKS_BY_HAND
  if (hn::AllTrue(d, mask)) return hn::StoreU(v, d, to);
  HWY_ALIGN T chosen[hn::MaxLanes(D())], lanes[hn::MaxLanes(D())];
  hn::Store(hn::IfThenElseZero(mask, hn::Set(d, T(1))), d, chosen);
  hn::Store(v, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i)
    if (chosen[i] != T(0)) to[i] = lanes[i];
#else
  hn::BlendedStore(v, mask, d, to);
#endif
}

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
