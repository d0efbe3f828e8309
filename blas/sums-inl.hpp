// Sums whose last bit is certain, or else said not to be. Each way has a bound of its error; where
// the ends of the interval round to one number, that is the result. Most calls end with the first
// way; the others stand apart, so that it stays short.
//
// f32: terms are exact in f64, so a plain f64 sum has the rounding errors of its additions alone.
// f64: s, near 1.53 sigma with sigma a power of two, takes the upper part of each term, h, without
// error, as long as it keeps its exponent and 4 bits below; r collects the lower ones (after Rump,
// Ogita, Oishi, "Accurate floating-point summation", 2008). With fma a product needs no splitting:
// t = fma(a, b, s), h = t - s, and fma(a, b, -h) is the rest. s - 1.53 sigma is exact; only the
// rest and r have errors, of 2^-53 of what is at most n 2^-53 sigma.
// A sum halfway between two results is decided by no interval. There the terms are often multiples
// of a number so large that nothing was rounded at all: then the sum that is there is the exact
// one.
#include <bit>
#include <cmath>

#include "kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

using blas::Terms;
using Doubles = hn::ScalableTag<double>;
using DoubleVector = hn::Vec<Doubles>;
constexpr int64_t kDoubles = hn::MaxLanes(Doubles());

// Elements with a stride, which a gather loads.
template <class T>
struct Strided {
  const T* data;
  int64_t stride;
  const T& operator[](int64_t i) const { return data[i * stride]; }
  Strided operator+(int64_t i) const { return {data + i * stride, stride}; }
};
template <class D>
HWY_INLINE auto offsets_of(D, [[maybe_unused]] int64_t stride) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Zero(hn::RebindToSigned<D>());
#else
  const hn::Rebind<int32_t, D> narrow;
  const auto all = hn::Mul(hn::Iota(narrow, 0), hn::Set(narrow, static_cast<int32_t>(stride)));
  if constexpr (sizeof(hn::TFromD<D>) == 4)
    return all;
  else
    return hn::PromoteTo(hn::RebindToSigned<D>(), all);
#endif
}
// f(x, y), or f(their elements with their strides); false where a stride is beyond a gather's
// offsets.
template <class T, class F>
HWY_INLINE bool with_loads(const T* x, int64_t x_stride, const T* y, int64_t y_stride, F&& f) {
  constexpr int64_t kMost = 1 << 26;
  if (x_stride == 1 && y_stride == 1) return f(x, y);
  return std::abs(x_stride) < kMost && std::abs(y_stride) < kMost &&
         f(Strided<T>{x, x_stride}, Strided<T>{y, y_stride});
}
template <class T, class F>
HWY_INLINE bool with_loads(const T* x, int64_t stride, F&& f) {
  return with_loads(x, stride, x, stride, [&](auto a, auto) HWY_ATTR { return f(a); });
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load(D d, const T* x) {
  return hn::LoadU(d, x);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load(D d, hn::Mask<D> mask, const T* x) {
  return load_lanes(d, mask, x);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load(D d, hn::Mask<D> mask, const Strided<T>& x) {
  auto offsets = offsets_of(d, x.stride);
#if HWY_TARGET == HWY_AVX3
  // Highway's gather waits for whatever its register held before.
  if constexpr (hn::MaxLanes(d) == 16)
    return {_mm512_mask_i32gather_ps(_mm512_setzero_ps(), mask.raw, offsets.raw, x.data, 4)};
  if constexpr (sizeof(T) == 8)
    return {_mm512_mask_i64gather_pd(_mm512_setzero_pd(), mask.raw, offsets.raw, x.data, 8)};
#endif
  // Lanes beyond the end read the first element.
  offsets = hn::IfThenElseZero(hn::RebindMask(hn::RebindToSigned<D>(), mask), offsets);
  return hn::IfThenElseZero(mask, hn::GatherIndex(d, x.data, offsets));
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load(D d, const Strided<T>& x) {
  return load(d, hn::FirstN(d, hn::MaxLanes(d)), x);
}
template <class D, class X>
HWY_INLINE hn::Vec<D> load_first(D d, const X& x, int64_t count) {
  if (count >= static_cast<int64_t>(hn::MaxLanes(d))) return load(d, x);
  return load(d, hn::FirstN(d, static_cast<size_t>(count)), x);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V fused_multiply_subtract(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulSub(a, b, c);
#else
  return fused_multiply_add(d, a, b, hn::Neg(c));
#endif
}

// The totals of two vectors: their lanes are interleaved, and folded together.
struct Totals {
  double a, b;
};
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE Totals totals(DoubleVector a, DoubleVector b) {
  return {hn::GetLane(a), hn::GetLane(b)};
}
#else
template <class D, class V = hn::Vec<D>>
HWY_INLINE Totals fold(D d, V pairs) {
  if constexpr (hn::MaxLanes(d) > 2) {
    const hn::Half<D> half;
    return fold(half, hn::Add(hn::LowerHalf(half, pairs), hn::UpperHalf(half, pairs)));
  } else {
    return {hn::GetLane(pairs), hn::ExtractLane(pairs, 1)};
  }
}
HWY_INLINE Totals totals(DoubleVector a, DoubleVector b) {
  const Doubles d;
  return fold(d, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
}
#endif
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::TFromD<D> total([[maybe_unused]] D d, V v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(d) > 1) {
    const hn::Half<D> half;
    return total(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}
HWY_INLINE double total(DoubleVector v) { return total(Doubles(), v); }

// |sum - exact sum| <= bound; NaN where nothing is known. It is infinite where a term is: then
// Inf - Inf would raise a flag that no chain does.
struct Near {
  double sum, bound;
};
HWY_INLINE bool rounds(const Near& near, float* result) {
  if (!std::isless(near.bound, INFINITY)) [[unlikely]]
    return false;
  *result = static_cast<float>(near.sum - near.bound);
  return *result == static_cast<float>(near.sum + near.bound);
}

// Calls f(a, b), and g(a, b) in turn, for f64 vectors of x and y, 0 beyond the end. y is x where
// the terms have one factor.
template <Terms kTerms, class X, class Y, class F, class G>
HWY_INLINE void for_pairs(int64_t n, const X& x, const Y& y, F&& f, G&& g) {
  using T = std::remove_cvref_t<decltype(x[0])>;
  const hn::Rebind<T, Doubles> narrow;
  const auto call = [&](auto& h, int64_t i, auto... mask) HWY_ATTR {
    const auto wide = [](auto v) HWY_ATTR {
      if constexpr (sizeof(T) == 4)
        return hn::PromoteTo(Doubles(), v);
      else
        return v;
    };
    const DoubleVector a = wide(load(narrow, mask..., x + i));
    if constexpr (kTerms == Terms::product)
      h(a, wide(load(narrow, mask..., y + i)));
    else
      h(a, a);
  };
  int64_t i = 0;
  for (; i + 2 * kDoubles <= n; i += 2 * kDoubles) {
    call(f, i);
    call(g, i + kDoubles);
  }
  if (i + kDoubles <= n) {
    call(f, i);
    i += kDoubles;
  }
  if (i < n) call(g, i, hn::FirstN(narrow, static_cast<size_t>(n - i)));
}
template <Terms kTerms, class X, class Y, class F>
HWY_INLINE void for_pairs(int64_t n, const X& x, const Y& y, F&& f) {
  for_pairs<kTerms>(n, x, y, f, f);
}
template <Terms kTerms>
HWY_INLINE DoubleVector term(DoubleVector a, DoubleVector b) {
  return kTerms == Terms::magnitude ? hn::Abs(a) : hn::Mul(a, b);
}

// ---- f32 ----

// All roundings of a plain sum of n terms, by the sum of their magnitudes.
HWY_INLINE double roundings(int64_t n) {
  return n <= 64 ? 72 * 0x1p-52 : static_cast<double>(n + 8) * 0x1p-52;
}
HWY_INLINE Near near(int64_t n, double sum, double magnitudes) {
  return {sum, roundings(n) * magnitudes};
}

// Rounds a sum of n magnitudes, or its root: the ends are multiples of it, which may be infinite.
HWY_INLINE bool rounds(int64_t n, double sum, float* result) {
  *result = static_cast<float>(sum * (1 - roundings(n)));
  return *result == static_cast<float>(sum * (1 + roundings(n)));
}

template <Terms kTerms, class X, class Y>
HWY_INLINE Near sum_of(int64_t n, const X& x, const Y& y) {
  if (n <= 4) {  // sooner done than the lanes of a vector are added
    double s = 0, m = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double v = kTerms == Terms::magnitude ? std::abs(x[i]) : double(x[i]) * double(y[i]);
      s += v;
      m += std::abs(v);
    }
    return near(n, s, m);
  }
  const Doubles d;
  DoubleVector s0 = hn::Zero(d), s1 = s0, m = s0;
  const auto add = [&](DoubleVector a, DoubleVector b, DoubleVector& s) HWY_ATTR {
    if constexpr (kTerms == Terms::square) {
      s = fused_multiply_add(d, a, a, s);
    } else {
      const DoubleVector v = term<kTerms>(a, b);
      s = hn::Add(s, v);
      if constexpr (kTerms == Terms::product) m = hn::Add(m, hn::Abs(v));
    }
  };
  const auto first = [&](DoubleVector a, DoubleVector b) HWY_ATTR { add(a, b, s0); };
  if (n <= 64) {
    for_pairs<kTerms>(n, x, y, first);
  } else {
    for_pairs<kTerms>(n, x, y, first,
                      [&](DoubleVector a, DoubleVector b) HWY_ATTR { add(a, b, s1); });
    s0 = hn::Add(s0, s1);
  }
  if constexpr (kTerms != Terms::product) {
    const double sum = total(s0);
    return near(n, sum, sum);
  }
  const Totals t = totals(s0, m);
  return near(n, t.a, t.b);
}

// The magnitudes in f32, twice as many a step: their rounding is within the bound's other half, and
// what f32 can't hold is NaN or is left to the next way.
constexpr int64_t kMany = 1 << 22;  // more would stagnate in f32
HWY_INLINE Near sum_of_many(int64_t n, const float* x, const float* y) {
  const Doubles d;
  const hn::ScalableTag<float> df;
  const hn::Rebind<float, Doubles> dh;
  constexpr int64_t kFloats = hn::MaxLanes(df);
  DoubleVector s0 = hn::Zero(d), s1 = s0;
  auto m = hn::Zero(df);
  int64_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    m = fused_multiply_add(df, hn::Abs(hn::LoadU(df, x + i)), hn::Abs(hn::LoadU(df, y + i)), m);
    s0 = fused_multiply_add(d, hn::PromoteTo(d, hn::LoadU(dh, x + i)),
                            hn::PromoteTo(d, hn::LoadU(dh, y + i)), s0);
    if constexpr (kFloats > kDoubles)
      s1 = fused_multiply_add(d, hn::PromoteTo(d, hn::LoadU(dh, x + i + kDoubles)),
                              hn::PromoteTo(d, hn::LoadU(dh, y + i + kDoubles)), s1);
  }
  double rest = 0;
  if (i < n) {
    DoubleVector m1 = hn::Zero(d);
    for_pairs<Terms::product>(n - i, x + i, y + i, [&](DoubleVector a, DoubleVector b) HWY_ATTR {
      s1 = fused_multiply_add(d, a, b, s1);
      m1 = fused_multiply_add(d, hn::Abs(a), hn::Abs(b), m1);
    });
    rest = total(m1);
  }
  const double magnitudes = static_cast<double>(total(df, m));
  const double known = std::isgreaterequal(magnitudes, 0x1p-110) ? magnitudes + rest : NAN;
  return near(n, total(hn::Add(s0, s1)), known);
}

// Whether all terms are multiples of 2^-51 of a power of two that no partial sum reaches.
template <Terms kTerms, class X, class Y>
bool is_plain_sum_exact(int64_t n, const X& x, const Y& y, double magnitudes) {
  const Doubles d;
  if (std::isnan(magnitudes) || magnitudes < 0x1p-900 || magnitudes > 0x1p900) return false;
  const double power = std::bit_cast<double>(
      (std::bit_cast<uint64_t>(magnitudes) & 0x7ff0000000000000) + 0x0010000000000000);
  const DoubleVector grid = hn::Set(d, 3 * power);
  auto same = hn::Eq(grid, grid);
  for_pairs<kTerms>(n, x, y, [&](DoubleVector a, DoubleVector b) HWY_ATTR {
    const DoubleVector v = term<kTerms>(a, b);
    same = hn::And(same, hn::Eq(hn::Sub(hn::Add(v, grid), grid), v));
  });
  return hn::AllTrue(d, same);
}

template <Terms kTerms, class X, class Y>
HWY_INLINE bool sum_quickly(int64_t n, const X& x, const Y& y, float* result, Near* found) {
  constexpr bool kHasMany = kTerms == Terms::product && std::is_pointer_v<X>;
  if (kHasMany && n > kDoubles && n <= kMany)
    *found = sum_of_many(n, &x[0], &y[0]);
  else
    *found = sum_of<kTerms>(n, x, y);
  if (kTerms == Terms::magnitude) return rounds(n, found->sum, result);
  if (!rounds(*found, result)) [[unlikely]]
    return false;
  return *result < 0 || *result > 0;  // a zero has a sign, which depends on those of the terms
}
template <Terms kTerms, class X, class Y>
bool sum_carefully(int64_t n, const X& x, const Y& y, float* result, Near found) {
  if (std::isnan(found.bound)) {
    found = sum_of<kTerms>(n, x, y);
    if (rounds(found, result) && *result != 0) return true;
  }
  *result = static_cast<float>(found.sum);
  return found.sum != 0 && is_plain_sum_exact<kTerms>(n, x, y, 1.01 * found.bound / roundings(n));
}

// The root of a sum that is far from over- and underflow in f64.
template <class X>
HWY_INLINE bool norm_quickly(int64_t n, const X& x, float* result) {
  const double root = std::sqrt(sum_of<Terms::square>(n, x, x).sum);
  return rounds(n, root, result);
}
template <class X>
HWY_INLINE bool norm_carefully(int64_t n, const X& x, float* result) {
  const double sum = sum_of<Terms::square>(n, x, x).sum;
  *result = static_cast<float>(std::sqrt(sum));
  return is_plain_sum_exact<Terms::square>(n, x, x, 1.01 * sum);
}

// ---- f64 ----

// sigma is 2^24 times the power of two below `size`, which is between 2^-700 and 2^899: room for
// many terms of that size, and for larger ones.
HWY_INLINE bool is_usual(double size) {
  return ((std::bit_cast<uint64_t>(size) >> 52) & 0x7ff) - (1023 - 700) < 1600;
}
HWY_INLINE DoubleVector start_of(DoubleVector size) {
  const hn::RebindToUnsigned<Doubles> du;
  constexpr uint64_t kExponent = 0x7ff0000000000000;
  constexpr uint64_t kStart = std::bit_cast<uint64_t>(1.53125 * 0x1p24) - (uint64_t(1023) << 52);
  return hn::BitCast(Doubles(), hn::Add(hn::And(hn::BitCast(du, size), hn::Set(du, kExponent)),
                                        hn::Set(du, kStart)));
}

struct Parts {
  double upper, lower;
  bool is_good;  // s was always near `start`; and with kOnGrid the parts are exact
};
// Where a term is infinite, Inf - Inf would raise a flag that no chain does. AVX-512 subtracts
// without flags at no cost; elsewhere a test at each step would take a third longer.
HWY_INLINE DoubleVector quiet_subtract(DoubleVector a, DoubleVector b) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return {
      _mm512_maskz_sub_round_pd(0xff, a.raw, b.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
#else
  return hn::Sub(a, b);
#endif
}
// a b - rounded, without flags likewise.
HWY_INLINE DoubleVector rest_of_product(DoubleVector a, DoubleVector b, DoubleVector rounded) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return {_mm512_fmsub_round_pd(a.raw, b.raw, rounded.raw,
                                _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
#else
  return fused_multiply_subtract(Doubles(), a, b, rounded);
#endif
}

// By what changed in the bits of s.
template <class V>
HWY_INLINE bool stays_near(V moved) {
  const hn::DFromV<V> du;
  const auto upper_bits = hn::And(moved, hn::Set(du, 0xffff000000000000));
  return hn::AllTrue(du, hn::Eq(upper_bits, hn::Zero(du)));
}
template <Terms kTerms, bool kOnGrid = false, class X, class Y>
HWY_INLINE Parts split(int64_t n, const X& x, const Y& y, DoubleVector start, double grid = 0) {
  constexpr bool kOnlyGrows = kTerms != Terms::product;  // then its end shows where s was
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const DoubleVector on = hn::Set(d, grid);
  auto moved = hn::Zero(du);
  auto exact = hn::Eq(start, start);
  const auto is_on_grid = [&](DoubleVector v)
                              HWY_ATTR { return hn::Eq(hn::Sub(hn::Add(v, on), on), v); };
  const auto look = [&](DoubleVector s) HWY_ATTR {
    moved = hn::Or(moved, hn::Xor(hn::BitCast(du, s), hn::BitCast(du, start)));
  };
  const auto add = [&](DoubleVector a, DoubleVector b, DoubleVector& s, DoubleVector& r) HWY_ATTR {
    DoubleVector t, rest;
    if constexpr (kTerms != Terms::magnitude && !kOnGrid) {
      t = fused_multiply_add(d, a, b, s);
      rest = rest_of_product(a, b, quiet_subtract(t, s));
    } else {
      const DoubleVector v = term<kTerms>(a, b);
      t = hn::Add(s, v);
      rest = quiet_subtract(v, quiet_subtract(t, s));
      if constexpr (kOnGrid) exact = hn::And(exact, is_on_grid(rest));
      if constexpr (kOnGrid && kTerms != Terms::magnitude) {
        const DoubleVector zero = hn::Zero(d), error = rest_of_product(a, b, v);
        const auto is_kept = hn::Or(hn::Ne(v, zero), hn::Or(hn::Eq(a, zero), hn::Eq(b, zero)));
        exact = hn::And(exact, hn::And(is_kept, is_on_grid(error)));
        rest = hn::Add(rest, error);
      }
    }
    if constexpr (!kOnlyGrows) look(t);
    r = hn::Add(r, rest);
    s = t;
  };
  DoubleVector s0 = start, s1 = start, r0 = hn::Zero(d), r1 = r0;
  for_pairs<kTerms>(
      n, x, y, [&](DoubleVector a, DoubleVector b) HWY_ATTR { add(a, b, s0, r0); },
      [&](DoubleVector a, DoubleVector b) HWY_ATTR { add(a, b, s1, r1); });
  if constexpr (kOnlyGrows) look(s0), look(s1);
  const Totals t = totals(hn::Add(hn::Sub(s0, start), hn::Sub(s1, start)), hn::Add(r0, r1));
  return {t.a, t.b, stays_near(moved) && (!kOnGrid || hn::AllTrue(d, exact))};
}

// The same of one vector.
template <Terms kTerms, class X, class Y>
HWY_INLINE Parts split_one(int64_t n, const X& x, const Y& y, DoubleVector start) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const auto mask = hn::FirstN(d, static_cast<size_t>(n));
  const DoubleVector a = load(d, mask, x);
  DoubleVector b = a, t;
  if constexpr (kTerms == Terms::product) b = load(d, mask, y);
  if constexpr (kTerms != Terms::magnitude) {
    t = fused_multiply_add(d, a, b, start);
  } else {
    t = hn::Add(start, hn::Abs(a));
  }
  if (!stays_near(hn::Xor(hn::BitCast(du, t), hn::BitCast(du, start)))) [[unlikely]]
    return {0, 0, false};
  const DoubleVector upper = hn::Sub(t, start);
  const DoubleVector lower = kTerms != Terms::magnitude ? fused_multiply_subtract(d, a, b, upper)
                                                        : hn::Sub(hn::Abs(a), upper);
  const Totals sums = totals(upper, lower);
  return {sums.a, sums.b, true};
}

// The ends of an interval around the sum, each rounded to f64.
struct Ends {
  double low, high;
  bool agree() const { return low == high; }
};
constexpr Ends kUnknown{0, 1};

template <Terms kTerms, class X, class Y>
HWY_INLINE Ends enclose(int64_t n, const X& x, const Y& y, DoubleVector size) {
  const DoubleVector start = start_of(size);
  const Parts parts =
      n <= kDoubles ? split_one<kTerms>(n, x, y, start) : split<kTerms>(n, x, y, start);
  // Twice the errors above: n of the rest, n of each lane's terms, n for the lanes and what
  // follows.
  const auto part = [](double count) { return count * (count * (2.0 / kDoubles) + 16) * 0x1p-106; };
  const double bound = hn::GetLane(start) * (n <= 64 ? part(64) : part(static_cast<double>(n)));
  if (!parts.is_good) [[unlikely]]
    return kUnknown;
  return {parts.upper + (parts.lower - bound), parts.upper + (parts.lower + bound)};
}

// Where nothing was rounded, the sum itself. The rests are at most n 2^-52 sigma in all, so a 2^-51
// of that is fine enough a grid.
template <Terms kTerms, class X, class Y>
Ends add_on_grid(int64_t n, const X& x, const Y& y, DoubleVector size) {
  const DoubleVector start = start_of(size);
  const auto count = std::bit_cast<uint64_t>(4.0 * static_cast<double>(n)) & 0x7ff0000000000000;
  const Parts parts = split<kTerms, true>(
      n, x, y, start, std::bit_cast<double>(count) * (0x1p-51 * hn::GetLane(start)));
  const double sum = parts.upper + parts.lower;
  return parts.is_good && sum != 0 ? Ends{sum, sum} : kUnknown;
}

template <Terms kTerms, class X, class Y>
HWY_INLINE DoubleVector first_term(const X& x, const Y& y) {
  return term<kTerms>(hn::Set(Doubles(), x[0]), hn::Set(Doubles(), y[0]));
}
// By the first term's size: most are.
template <Terms kTerms, class X, class Y>
HWY_INLINE Ends enclose_quickly(int64_t n, const X& x, const Y& y) {
  const DoubleVector first = first_term<kTerms>(x, y);
  if (!is_usual(hn::GetLane(first))) [[unlikely]]
    return kUnknown;
  return enclose<kTerms>(n, x, y, first);
}
template <Terms kTerms, class X, class Y>
Ends enclose_carefully(int64_t n, const X& x, const Y& y) {
  const hn::RebindToSigned<Doubles> bits;
  auto largest = hn::Zero(bits);  // magnitudes have their bits' order, and NaN is the largest
  for_pairs<kTerms>(n, x, y, [&](DoubleVector a, DoubleVector b) HWY_ATTR {
    largest = hn::Max(largest, hn::BitCast(bits, hn::Abs(term<kTerms>(a, b))));
  });
  const DoubleVector most = hn::BitCast(Doubles(), hn::MaxOfLanes(bits, largest));
  if (!is_usual(hn::GetLane(most))) return kUnknown;
  const DoubleVector first = first_term<kTerms>(x, y);
  if (is_usual(hn::GetLane(first)))
    if (const Ends exact = add_on_grid<kTerms>(n, x, y, first); exact.agree()) return exact;
  const Ends ends = enclose<kTerms>(n, x, y, most);
  return ends.agree() ? ends : add_on_grid<kTerms>(n, x, y, most);
}

// Few magnitudes: exact, where the roundings add without another.
struct Pair {
  double sum, rest;
};
HWY_INLINE Pair two_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
template <class X>
HWY_INLINE bool add_few(int64_t n, const X& x, double* result) {
  Pair total{std::abs(x[0]), 0};
  double lost = 0;
  for (int64_t i = 1; i < n; ++i) {
    if (!std::isfinite(total.sum + std::abs(x[i]))) [[unlikely]]
      return false;
    const Pair next = two_sum(total.sum, std::abs(x[i])), rest = two_sum(total.rest, next.rest);
    total = {next.sum, rest.sum};
    lost += std::abs(rest.rest);
  }
  *result = total.sum + total.rest;
  return lost == 0;
}
// Two products: each is a rounded one and a rest, but for what underflows.
template <class X, class Y>
HWY_INLINE bool add_two(const X& x, const Y& y, double* result) {
  const double p = x[0] * y[0], q = x[1] * y[1];
  if (!std::isfinite(p + q)) [[unlikely]]
    return false;
  const Pair sum = two_sum(p, q);
  const double rest = sum.rest + (std::fma(x[0], y[0], -p) + std::fma(x[1], y[1], -q));
  const double bound = (std::abs(p) + std::abs(q)) * 0x1p-101 + 0x1p-1070;
  *result = sum.sum + (rest - bound);
  return *result == sum.sum + (rest + bound);
}

template <Terms kTerms, class X, class Y>
HWY_INLINE bool sum_quickly(int64_t n, const X& x, const Y& y, double* result, Near*) {
  if (kTerms == Terms::magnitude && n <= 4 && add_few(n, x, result)) return true;
  if (kTerms != Terms::magnitude && n == 2) return add_two(x, y, result);
  const Ends ends = enclose_quickly<kTerms>(n, x, y);
  *result = ends.low;
  return ends.agree();
}
template <Terms kTerms, class X, class Y>
bool sum_carefully(int64_t n, const X& x, const Y& y, double* result, Near) {
  const Ends ends = enclose_carefully<kTerms>(n, x, y);
  *result = ends.low;
  return ends.agree();
}
template <class X>
HWY_INLINE bool norm_quickly(int64_t n, const X& x, double* result) {
  double sum;
  if (!sum_quickly<Terms::square>(n, x, x, &sum, nullptr)) [[unlikely]]
    return false;
  *result = std::sqrt(sum);
  return n > 2 || (sum >= 0x1p-900 && sum <= 0x1p1000);
}
// Ends that don't agree may have one root.
template <class X>
bool norm_carefully(int64_t n, const X& x, double* result) {
  const Ends ends = enclose_carefully<Terms::square>(n, x, x);
  *result = std::sqrt(ends.low);
  return ends.low >= 0x1p-900 && ends.high <= 0x1p1000 && *result == std::sqrt(ends.high);
}

// ---- the routines ----

// Apart, lest the usual call needs more of the stack: what isn't certain at once, and strides.
template <class T>
HWY_NOINLINE T dot_apart(int64_t n, const T* x, int64_t x_stride, const T* y, int64_t y_stride,
                         Near found) {
  T result;
  const auto sum = [&](auto a, auto b) HWY_ATTR {
    constexpr bool kIsNew = !std::is_same_v<decltype(b), const T*>;
    return (kIsNew && sum_quickly<Terms::product>(n, a, b, &result, &found)) ||
           sum_carefully<Terms::product>(n, a, b, &result, found);
  };
  const bool is_known = is_default_environment() && with_loads(x, x_stride, y, y_stride, sum);
  return is_known ? result : blas::exact_dot(n, x, x_stride, y, y_stride);
}
template <class T>
T dot(int64_t n, const T* x, int64_t x_stride, const T* y, int64_t y_stride) {
  T result;
  Near found{NAN, NAN};
  if (is_default_environment()) [[likely]] {
    if (n == 1) return x[0] * y[0];
    if (x_stride == 1 && y_stride == 1 && sum_quickly<Terms::product>(n, x, y, &result, &found))
        [[likely]]
      return result;
  }
  return dot_apart(n, x, x_stride, y, y_stride, found);
}

template <class T>
HWY_NOINLINE T asum_apart(int64_t n, const T* x, int64_t stride, Near found) {
  T result;
  const auto sum = [&](auto a) HWY_ATTR {
    constexpr bool kIsNew = !std::is_same_v<decltype(a), const T*>;
    return (kIsNew && sum_quickly<Terms::magnitude>(n, a, a, &result, &found)) ||
           sum_carefully<Terms::magnitude>(n, a, a, &result, found);
  };
  const bool is_known = is_default_environment() && with_loads(x, stride, sum);
  return is_known ? result : blas::exact_asum(n, x, stride);
}
template <class T>
T asum(int64_t n, const T* x, int64_t stride) {
  T result;
  Near found{NAN, NAN};
  if (is_default_environment()) [[likely]] {
    if (n <= 2) return n == 1 ? std::abs(x[0]) : std::abs(x[0]) + std::abs(x[stride]);
    if (stride == 1 && sum_quickly<Terms::magnitude>(n, x, x, &result, &found)) [[likely]]
      return result;
  }
  return asum_apart(n, x, stride, found);
}

template <class T>
HWY_NOINLINE T nrm2_apart(int64_t n, const T* x, int64_t stride) {
  T result;
  const auto root = [&](auto a) HWY_ATTR {
    constexpr bool kIsNew = !std::is_same_v<decltype(a), const T*>;
    return (kIsNew && norm_quickly(n, a, &result)) || norm_carefully(n, a, &result);
  };
  const bool is_known = is_default_environment() && with_loads(x, stride, root);
  return is_known ? result : blas::exact_nrm2(n, x, stride);
}
template <class T>
T nrm2(int64_t n, const T* x, int64_t stride) {
  T result;
  if (is_default_environment()) [[likely]] {
    if (n == 1) return std::abs(x[0]);
    if (stride == 1 && norm_quickly(n, x, &result)) [[likely]]
      return result;
  }
  return nrm2_apart(n, x, stride);
}

// y = fma(factor, x, y) by whole vectors, and the rest by shorter ones: the next call may read what
// a masked store wrote only after it has reached the cache.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void axpy_by(D d, int64_t n, T alpha, const T* x, T* y) {
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const auto factor = hn::Set(d, alpha);
  for (; n >= kLanes; n -= kLanes, x += kLanes, y += kLanes)
    hn::StoreU(fused_multiply_add(d, factor, hn::LoadU(d, x), hn::LoadU(d, y)), d, y);
  if constexpr (kLanes > 1)
    if (n > 0) axpy_by(hn::CappedTag<T, kLanes / 2>(), n, alpha, x, y);
}
template <class T>
HWY_NOINLINE void axpy_apart(int64_t n, T alpha, const T* x, int64_t x_stride, T* y,
                             int64_t y_stride) {
  if (!is_default_environment()) [[unlikely]]
    return blas::in_default_environment([=] { axpy_apart(n, alpha, x, x_stride, y, y_stride); });
  const auto add = [&](int64_t i) HWY_ATTR {
    y[i * y_stride] = fused_multiply_add(alpha, x[i * x_stride], y[i * y_stride]);
  };
  for (; n >= 4; n -= 4, x += 4 * x_stride, y += 4 * y_stride) {
    add(0);
    add(1);
    add(2);
    add(3);
  }
  for (; n > 0; --n, x += x_stride, y += y_stride) add(0);
}
template <class T>
void axpy(int64_t n, T alpha, const T* x, int64_t x_stride, T* y, int64_t y_stride) {
  // First: a jump there from behind vectors would leave their upper halves in use, which costs the
  // caller 140 ns on an Intel Xeon.
  if (x_stride != 1 || y_stride != 1) [[unlikely]]
    return axpy_apart(n, alpha, x, x_stride, y, y_stride);
  if (!is_default_environment()) [[unlikely]]
    return blas::in_default_environment([=] { axpy(n, alpha, x, 1, y, 1); });
  axpy_by(hn::ScalableTag<T>(), n, alpha, x, y);
}

template <class X, class T = std::remove_cvref_t<decltype(std::declval<X>()[0])>>
HWY_INLINE int64_t find_largest(int64_t n, const X& x) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const auto at = [&](int64_t i) HWY_ATTR { return hn::Abs(load_first(d, x + i, n - i)); };
  const auto first = at(0);
  auto most = hn::IfThenElseZero(hn::Eq(first, first), first);  // any other NaN counts as none
  for (int64_t i = kLanes; i < n; i += kLanes) {
    const auto v = at(i);
    most = hn::IfThenElse(hn::Gt(v, most), v, most);  // not Max: NaN is never greater
  }
  most = hn::MaxOfLanes(d, most);
  for (int64_t i = 0; i < n; i += kLanes) {
    const intptr_t lane = hn::FindFirstTrue(d, hn::Eq(i == 0 ? first : at(i), most));
    if (lane >= 0) return i + lane;
  }
  return 0;
}
template <class T>
int64_t iamax(int64_t n, const T* x, int64_t stride) {
  if (!is_default_environment()) [[unlikely]]  // denormals have their order
    return blas::in_default_environment([=] { return iamax(n, x, stride); });
  if (n == 1 || std::isnan(x[0])) return 0;  // nothing is greater
  int64_t most = 0;
  if ((stride == 1 || n >= 8) && with_loads(x, stride, [&](auto a) HWY_ATTR {
        most = find_largest(n, a);
        return true;
      }))
    return most;
  for (int64_t i = 1; i < n; ++i)
    if (std::isgreater(std::abs(x[i * stride]), std::abs(x[most * stride]))) most = i;
  return most;
}

// By their bits: magnitudes have their order, NaNs are the largest, and no flag is raised.
template <class T>
T largest(int64_t rows, int64_t cols, const T* x, int64_t ld) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> bits;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  auto most = hn::Zero(bits), other = most;
  const auto at = [&](int64_t i) HWY_ATTR {
    return hn::BitCast(bits, hn::Abs(load_first(d, x + i, rows - i)));
  };
  for (int64_t j = 0; j < cols; ++j, x += ld) {
    int64_t i = 0;
    for (; i + kLanes < rows; i += 2 * kLanes) {
      most = hn::Max(most, at(i));
      other = hn::Max(other, at(i + kLanes));
    }
    if (i < rows) most = hn::Max(most, at(i));
  }
  return std::bit_cast<T>(hn::GetLane(hn::MaxOfLanes(bits, hn::Max(most, other))));
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
