// Transposes between an array of structures and a structure of arrays: 2 to 4 packed elements on
// one side, where a square tile would be mostly empty.
//
//   two rows of the input, a b c d … and e f g h …  ->  a e b f c g d h …, and back.
#include "transpose/problem.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

// Moves kWays rows of `count` elements, `step` bytes apart, to one packed run or from it.
template <int kWays, class T>
HWY_INLINE int64_t interleave(const char* rows, int64_t step, char* packed, int64_t count,
                              int64_t ahead) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), size = static_cast<int64_t>(sizeof(T));
  const auto row = [&](int i, int64_t x) HWY_ATTR {
    return hn::LoadU(d, reinterpret_cast<const T*>(rows + i * step) + x);
  };
  int64_t x = 0;
  for (; x + lanes <= count; x += lanes) {
    for (int i = 0; i < kWays; ++i) hwy::Prefetch(rows + i * step + x * size + ahead);
    T* const to = reinterpret_cast<T*>(packed) + kWays * x;
    if constexpr (kWays == 2) hn::StoreInterleaved2(row(0, x), row(1, x), d, to);
    if constexpr (kWays == 3) hn::StoreInterleaved3(row(0, x), row(1, x), row(2, x), d, to);
    if constexpr (kWays == 4) {
      hn::StoreInterleaved4(row(0, x), row(1, x), row(2, x), row(3, x), d, to);
    }
  }
  return x;
}

template <int kWays, bool kStream, class T>
HWY_INLINE int64_t deinterleave(const char* packed, char* rows, int64_t step, int64_t count,
                                int64_t ahead) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), size = static_cast<int64_t>(sizeof(T));
  int64_t x = 0;
  for (; x + lanes <= count; x += lanes) {
    const T* const from = reinterpret_cast<const T*>(packed) + kWays * x;
    for (int i = 0; i < kWays; ++i) hwy::Prefetch(packed + (kWays * x + i * lanes) * size + ahead);
    hn::Vec<decltype(d)> v[4];
    if constexpr (kWays == 2) hn::LoadInterleaved2(d, from, v[0], v[1]);
    if constexpr (kWays == 3) hn::LoadInterleaved3(d, from, v[0], v[1], v[2]);
    if constexpr (kWays == 4) hn::LoadInterleaved4(d, from, v[0], v[1], v[2], v[3]);
    for (int i = 0; i < kWays; ++i) {
      T* const to = reinterpret_cast<T*>(rows + i * step) + x;
      if constexpr (kStream) {
        hn::Stream(v[i], d, to);
      } else {
        hn::StoreU(v[i], d, to);
      }
    }
  }
  return x;
}

template <int kWays, int kSize, bool kStream>
bool move_ways(const transpose::Block& b) {
  using T = hwy::UnsignedFromSize<kSize>;
  int64_t p0 = 0, q0 = 0;
  if (b.p == kWays && b.out_step == kWays * kSize) {
    q0 = interleave<kWays, T>(b.in, b.in_step, b.out, b.q, b.ahead);
  } else if (b.q == kWays && b.in_step == kWays * kSize) {
    p0 = deinterleave<kWays, kStream, T>(b.in, b.out, b.out_step, b.p, b.ahead);
  } else {
    return false;
  }
  for (int64_t q = q0; q < b.q; ++q) {
    for (int64_t p = p0; p < b.p; ++p) {
      transpose::move_element<kSize>(b.out + q * b.out_step + p * kSize,
                                     b.in + p * b.in_step + q * kSize);
    }
  }
  return true;
}

#endif

// Moves the block; false if it isn't narrow. With kStream, the output's rows are aligned and bypass
// the caches.
template <int kSize, bool kStream>
HWY_INLINE bool move_narrow(const transpose::Block& b) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kSize <= 8) {
    const int64_t ways = HWY_MIN(b.p, b.q);
    if (ways == 2) return move_ways<2, kSize, kStream>(b);
    if (ways == 3) return move_ways<3, kSize, kStream>(b);
    if (ways == 4) return move_ways<4, kSize, kStream>(b);
  }
#endif
  (void)b;
  return false;
}

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
