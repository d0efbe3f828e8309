// Sums whose last bit is certain, or else said not to be.
//
// f32: terms are exact in f64; |plain f64 sum - exact sum| <= bound, and where sum - bound and
// sum + bound round to one float, that is the result.
// f64: with sigma a power of two >= 4 n max|term|, adding a term to s in [1.25 sigma, 1.75 sigma]
// splits it without error: s takes its upper part, r collects the lower ones (Rump, Ogita, Oishi,
// "Accurate floating-point summation", 2008) and the errors of the products. Then s - 1.5 sigma is
// exact, and only r has errors: at most n roundings of at most n parts of 2^-53 sigma.
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

template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_first(D d, const T* x, int64_t count) {
  if (count >= static_cast<int64_t>(hn::MaxLanes(d))) return hn::LoadU(d, x);
  return load_lanes(d, hn::FirstN(d, static_cast<size_t>(count)), x);
}
HWY_INLINE DoubleVector load_wide(const float* x, int64_t count) {
  return hn::PromoteTo(Doubles(), load_first(hn::Rebind<float, Doubles>(), x, count));
}
HWY_INLINE DoubleVector load_wide(const double* x, int64_t count) {
  return load_first(Doubles(), x, count);
}

// Up to a vector's terms, 0 beyond `count`, and what rounding took from them (of f64 products).
struct Term {
  DoubleVector value, error;
};
template <Terms kTerms, class T>
HWY_INLINE Term term(const T* x, const T* y, int64_t count = kDoubles) {
  const Doubles d;
  const DoubleVector a = load_wide(x, count);
  if constexpr (kTerms == Terms::magnitude) {
    return {hn::Abs(a), hn::Zero(d)};
  } else {
    const DoubleVector b = load_wide(y, count), value = hn::Mul(a, b);
    if constexpr (sizeof(T) == 4) return {value, hn::Zero(d)};
    return {value, fused_multiply_add(d, a, b, hn::Neg(value))};
  }
}

HWY_INLINE double total(DoubleVector v) { return hn::GetLane(hn::SumOfLanes(Doubles(), v)); }

// Calls f(pair) for two vectors of terms at a time; the masks are for the last ones alone.
template <Terms kTerms, class T, class F>
HWY_INLINE void for_terms(int64_t n, const T* x, const T* y, F&& f) {
  int64_t i = 0;
  for (; i + 2 * kDoubles <= n; i += 2 * kDoubles)
    f(term<kTerms>(x + i, y + i), term<kTerms>(x + i + kDoubles, y + i + kDoubles));
  const Term none{hn::Zero(Doubles()), hn::Zero(Doubles())};
  if (i + kDoubles <= n) {
    f(term<kTerms>(x + i, y + i), none);
    i += kDoubles;
  }
  if (i < n) f(none, term<kTerms>(x + i, y + i, n - i));
}

struct Interval {
  double low, high;  // the exact sum lies within; NaN where it is not known
};
template <Terms kTerms>
HWY_INLINE Interval enclose(int64_t n, const float* x, const float* y) {
  const Doubles d;
  DoubleVector s0 = hn::Zero(d), s1 = s0, m0 = s0, m1 = s0;
  for_terms<kTerms>(n, x, y, [&](const Term& a, const Term& b) HWY_ATTR {
    s0 = hn::Add(s0, a.value);
    s1 = hn::Add(s1, b.value);
    if constexpr (kTerms != Terms::magnitude) {
      m0 = hn::Add(m0, hn::Abs(a.value));
      m1 = hn::Add(m1, hn::Abs(b.value));
    }
  });
  const double sum = total(hn::Add(s0, s1));
  const double all = kTerms == Terms::magnitude ? sum : total(hn::Add(m0, m1));
  const double bound = static_cast<double>(n + 8) * 0x1p-52 * all;
  if (!(all >= 0x1p-900)) return {NAN, NAN};  // zeros have signs
  return {sum - bound, sum + bound};
}

template <Terms kTerms>
HWY_INLINE Interval enclose(int64_t n, const double* x, const double* y) {
  const Doubles d;
  DoubleVector m0 = hn::Zero(d), m1 = m0;
  for_terms<kTerms>(n, x, y, [&](const Term& a, const Term& b) HWY_ATTR {
    m0 = hn::Max(m0, hn::Abs(a.value));
    m1 = hn::Max(m1, hn::Abs(b.value));
  });
  const double most = hn::GetLane(hn::MaxOfLanes(d, hn::Max(m0, m1)));
  // Products may have lost bits, sigma may overflow; and zeros have signs.
  if (!(most >= 0x1p-900 && most <= 0x1p900)) return {NAN, NAN};
  const double count = static_cast<double>(n);
  const auto bits = std::bit_cast<uint64_t>(4 * count * most);
  const double sigma = std::bit_cast<double>((bits | 0xfffffffffffff) + 1);
  const DoubleVector start = hn::Set(d, 1.5 * sigma);
  DoubleVector s0 = start, s1 = start, r0 = hn::Zero(d), r1 = r0;
  for_terms<kTerms>(n, x, y, [&](const Term& a, const Term& b) HWY_ATTR {
    const DoubleVector t0 = hn::Add(s0, a.value), t1 = hn::Add(s1, b.value);
    r0 = hn::Add(r0, hn::Add(hn::Sub(a.value, hn::Sub(t0, s0)), a.error));
    r1 = hn::Add(r1, hn::Add(hn::Sub(b.value, hn::Sub(t1, s1)), b.error));
    s0 = t0;
    s1 = t1;
  });
  const double upper = total(hn::Add(hn::Sub(s0, start), hn::Sub(s1, start)));
  const double lower = total(hn::Add(r0, r1));
  // upper + lower as sum + error, by TwoSum; 4 where 2 roundings of each part would do.
  const double sum = upper + lower, part = sum - upper;
  const double error = (upper - (sum - part)) + (lower - part);
  const double bound = 4 * (count + 8) * count * 0x1p-106 * sigma;
  return {sum + (error - bound), sum + (error + bound)};
}

// Few numbers of like size often add up to a tie, which no interval decides: sum + rest is then the
// exact sum by TwoSum, if the errors add without another. sum is the nearest f64.
struct Pair {
  double sum, rest;
};
HWY_INLINE Pair two_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
template <Terms kTerms, class T>
bool add_exactly(int64_t n, const T* x, const T* y, Pair* exact) {
  Pair total{0, 0};
  double lost = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double a = x[i], b = y[i];
    const double value = kTerms == Terms::magnitude ? std::abs(a) : a * b;
    const Pair next = two_sum(total.sum, value), rest = two_sum(total.rest, next.rest);
    total = {next.sum, rest.sum};
    lost += std::abs(rest.rest);
    if (kTerms != Terms::magnitude && sizeof(T) == 8) {
      lost += std::abs(std::fma(a, b, -value));
      if (std::abs(value) < 0x1p-960 && a != 0 && b != 0) lost = 1;  // its error may be 0 too
    }
  }
  *exact = two_sum(total.sum, total.rest);
  return lost == 0 && exact->sum != 0;
}

template <Terms kTerms, class T>
bool certain_sum(int64_t n, const T* x, const T* y, T* result) {
  const Interval in = enclose<kTerms>(n, x, y);
  *result = static_cast<T>(in.low);
  if (*result == static_cast<T>(in.high) && std::isfinite(*result)) return true;
  Pair exact;
  if (std::isnan(in.low) || !add_exactly<kTerms>(n, x, y, &exact)) return false;
  *result = static_cast<T>(exact.sum);
  return sizeof(T) == 8 || exact.rest == 0;
}

// Where the sum is far from under- and overflow (f32's always is).
template <class T>
bool certain_norm(int64_t n, const T* x, const T*, T* result) {
  const Interval in = enclose<Terms::product>(n, x, x);
  if (!(in.low >= 0x1p-900 && in.high <= 0x1p1000)) return false;
  *result = static_cast<T>(std::sqrt(in.low));
  if (*result == static_cast<T>(std::sqrt(in.high))) return true;
  Pair exact;
  if (!add_exactly<Terms::product>(n, x, x, &exact)) return false;
  *result = static_cast<T>(std::sqrt(exact.sum));
  return true;
}

template <class T>
void axpy(int64_t n, T alpha, const T* x, T* y) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const auto factor = hn::Set(d, alpha);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(fused_multiply_add(d, factor, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  if (i == n) return;
  const auto mask = hn::FirstN(d, static_cast<size_t>(n - i));
  const auto sum =
      fused_multiply_add(d, factor, load_lanes(d, mask, x + i), load_lanes(d, mask, y + i));
  store_lanes(d, mask, sum, y + i);
}

template <class T>
int64_t iamax(int64_t n, const T* x) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  if (n <= 8) {  // sooner done than a vector's largest lane is found
    int64_t first = 0;
    for (int64_t i = 1; i < n; ++i)
      if (std::abs(x[i]) > std::abs(x[first])) first = i;
    return first;
  }
  const auto at = [&](int64_t i) HWY_ATTR { return hn::Abs(load_first(d, x + i, n - i)); };
  auto most = hn::Set(d, std::abs(x[0]));
  for (int64_t i = 0; i < n; i += kLanes) {
    const auto v = at(i);
    most = hn::IfThenElse(hn::Gt(v, most), v, most);  // not Max: NaN is never greater
  }
  most = hn::MaxOfLanes(d, most);
  for (int64_t i = 0; i < n; i += kLanes) {
    const intptr_t lane = hn::FindFirstTrue(d, hn::Eq(at(i), most));
    if (lane >= 0) return i + lane;
  }
  return 0;
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
