// The parts of exact products that are vectors: packing that measures the operands, the tile of
// pairs for f64, and the rounding of sums where it is certain.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "gemm/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {

using Doubles = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<Doubles>;
constexpr int kDoubles = static_cast<int>(hn::MaxLanes(Doubles()));

template <class S>
using Elements = hn::Rebind<S, Doubles>;  // as many as there are doubles in a vector

// Elements as doubles, and rounded back. (Highway's emulation makes the largest number of Inf.)
template <class S>
HWY_INLINE DoubleVec to_doubles(hn::Vec<Elements<S>> v) {
  if constexpr (std::is_same_v<S, double>) {
    return v;
  } else {
    return hn::PromoteTo(Doubles(), v);
  }
}
template <class S>
HWY_INLINE hn::Vec<Elements<S>> to_elements(DoubleVec v) {
  if constexpr (std::is_same_v<S, double>) {
    return v;
  } else {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
    HWY_ALIGN double from[kDoubles];
    HWY_ALIGN S to[kDoubles];
    hn::Store(v, Doubles(), from);
    for (int i = 0; i < kDoubles; ++i) to[i] = static_cast<S>(from[i]);
    return hn::Load(Elements<S>(), to);
#else
    return hn::DemoteTo(Elements<S>(), v);
#endif
  }
}

// The lowest bit of each number, the largest power of two of which it is a multiple, as twice its
// bits less one: so 0, a multiple of any, comes last.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> lowest_bit(D d, hn::Vec<D> v) {
  const hn::RebindToUnsigned<D> du;
  using U = hn::TFromD<decltype(du)>;
  constexpr U kFraction = (U{1} << (std::numeric_limits<hn::TFromD<D>>::digits - 1)) - 1;
  const auto bits = hn::BitCast(du, v), one = hn::Set(du, U{1});
  // A power of two has no bit but those of its exponent.
  const auto has_fraction = hn::Ne(hn::And(bits, hn::Set(du, kFraction)), hn::Zero(du));
  const auto cleared = hn::IfThenElseZero(has_fraction, hn::And(bits, hn::Sub(bits, one)));
  const auto low = hn::BitCast(du, hn::Sub(v, hn::BitCast(d, cleared)));
  return hn::Sub(hn::Add(low, low), one);
}

// Takes the lowest bits of a panel's elements, `steps` times `height`, into its rows' `low`.
template <class S>
HWY_INLINE void take_lowest_bits(const S* panel, int64_t steps, int height, double* low) {
  const hn::ScalableTag<S> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  HWY_ALIGN S lowest[kLanes];
  for (int i = 0; i < height; i += kLanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(height - i));
    auto least = hn::Not(hn::Zero(du));
    for (int64_t s = 0; s < steps; ++s)
      least = hn::Min(least, lowest_bit(d, load_lanes(d, mask, panel + s * height + i)));
    least = hn::ShiftRight<1>(hn::Add(least, hn::Set(du, 1)));
    hn::Store(hn::BitCast(d, least), d, lowest);
    for (int r = 0; r < HWY_MIN(kLanes, height - i); ++r)
      if (lowest[r] != S(0) && !(low[i + r] <= lowest[r])) low[i + r] = lowest[r];
  }
}

// A power of two above the magnitude, at least 2^-1021.
HWY_INLINE DoubleVec power_above(DoubleVec v) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const auto power =
      hn::BitCast(d, hn::And(hn::BitCast(du, v), hn::Set(du, uint64_t{0x7ff} << 52)));
  return hn::Mul(hn::Max(power, hn::Set(d, 0x1p-1022)), hn::Set(d, 2.0));
}

// Packs elements as doubles. A row's size is of f32 the sum of its squares, which can't overflow,
// and of f64 the largest magnitude.
template <class S>
void pack_measured(gemm::Matrix<const S> from, int64_t rows, int64_t k, int height, double* to,
                   double* size, double* low) {
  const Doubles d;
  const Elements<S> de;
  constexpr int64_t kSteps = 32;
  constexpr bool kWidens = std::is_same_v<S, float>;
  HWY_ALIGN S packed[kWidens ? kSteps * 16 : 1];
  for (int64_t x = 0; x < k; x += kSteps, to += kSteps * height) {
    const int64_t steps = HWY_MIN(kSteps, k - x);
    S* source = packed;
    if constexpr (!kWidens) source = to;
    pack<S>({from.at(0, x), from.row_stride, from.col_stride}, rows, steps, height, source);
    take_lowest_bits(source, steps, height, low);
    for (int i = 0; i < height; i += kDoubles) {
      const auto mask = hn::FirstN(d, static_cast<size_t>(height - i));
      const auto mask_of_elements = hn::FirstN(de, static_cast<size_t>(height - i));
      auto sizes = load_lanes(d, mask, size + i);
      for (int64_t s = 0; s < steps; ++s) {
        const auto v = to_doubles<S>(load_lanes(de, mask_of_elements, source + s * height + i));
        if constexpr (kWidens) {
          store_lanes(d, mask, v, to + s * height + i);
          sizes = fused_multiply_add(d, v, v, sizes);
        } else {
          sizes = hn::Max(sizes, hn::Abs(v));
        }
      }
      store_lanes(d, mask, sizes, size + i);
    }
  }
}

// x + y as sum and error.
HWY_INLINE void two_sum(DoubleVec x, DoubleVec y, DoubleVec& sum, DoubleVec& error) {
  sum = hn::Add(x, y);
  const auto of_y = hn::Sub(sum, x);
  error = hn::Add(hn::Sub(x, hn::Sub(sum, of_y)), hn::Sub(y, of_y));
}

// Adds k products of f32, exact in f64, as sums of three doubles in each lane, whose largest parts
// come first. Returns whether nothing was lost.
inline bool add_terms(const gemm::Problem<float>& p, int64_t i, int64_t j, double* sums) {
  constexpr int64_t kSteps = 256;
  const Doubles d;
  HWY_ALIGN double a[kSteps], b[kSteps];
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, lost = s0;
  for (int64_t k0 = 0; k0 < p.k; k0 += kSteps) {
    const int64_t steps = HWY_MIN(kSteps, p.k - k0);
    const float *from_a = p.a.at(i, k0), *from_b = p.b.at(k0, j);
    for (int64_t k = 0; k < steps; ++k) {
      a[k] = from_a[k * p.a.col_stride];
      b[k] = from_b[k * p.b.row_stride];
    }
    std::fill(a + steps, a + kSteps, 0.0);
    std::fill(b + steps, b + kSteps, 0.0);
    for (int64_t k = 0; k < steps; k += kDoubles) {
      DoubleVec of_s0, of_s1, of_s2;
      two_sum(s0, hn::Mul(hn::Load(d, a + k), hn::Load(d, b + k)), s0, of_s0);
      two_sum(s1, of_s0, s1, of_s1);
      two_sum(s2, of_s1, s2, of_s2);
      lost = hn::Add(lost, hn::Abs(of_s2));
    }
  }
  hn::Store(s0, d, sums);
  hn::Store(s1, d, sums + kDoubles);
  hn::Store(s2, d, sums + 2 * kDoubles);
  return hn::AllTrue(d, hn::Eq(lost, hn::Zero(d)));
}

// The register tile of pairs. A sum begins at an anchor, 1.5 * 2^M, and stays between 2^M and
// 2^(M + 1) while k goes on: M is chosen for it. So each step moves it by a multiple of one unit,
// and what the step lost is the product less that move, which is nearly always a double:
//
//   next = fma(a, b, sum); errors += fma(a, b, sum - next); sum = next
template <int kRows, int kVectors>
void compute_pairs(const gemm::PairTile& tile) {
  const Doubles d;
  constexpr int kWidth = kVectors * kDoubles;
  DoubleVec anchor[kRows][kVectors], sum[kRows][kVectors], errors[kRows][kVectors];
  hn::Mask<Doubles> mask[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    mask[v] = hn::FirstN(d, static_cast<size_t>(HWY_MAX(0, tile.cols - v * kDoubles)));
    const auto column = hn::Mul(power_above(load_lanes(d, mask[v], tile.b_size + v * kDoubles)),
                                hn::Set(d, 3 * tile.steps));
    for (int r = 0; r < kRows; ++r) {
      const double size = r < tile.rows ? tile.a_size[r] : 0;
      anchor[r][v] = sum[r][v] = hn::Mul(power_above(hn::Set(d, size)), column);
      errors[r][v] = hn::Zero(d);
    }
  }
  const double *a = tile.a, *b = tile.b;
  for (int64_t k = 0; k < tile.k; ++k, a += kRows, b += kWidth) {
    DoubleVec row[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) row[v] = hn::Load(d, b + v * kDoubles);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const auto one = hn::Set(d, a[r]);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        const auto next = fused_multiply_add(d, one, row[v], sum[r][v]);
        const auto lost = fused_multiply_add(d, one, row[v], hn::Sub(sum[r][v], next));
        errors[r][v] = hn::Add(errors[r][v], lost);
        sum[r][v] = next;
      }
    }
  }
  for (int r = 0; r < kRows && r < tile.rows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      double* const sums = tile.sums + r * tile.stride + v * kDoubles;
      double* const lost = tile.errors + r * tile.stride + v * kDoubles;
      auto total = hn::Sub(sum[r][v], anchor[r][v]), error = errors[r][v];
      if (!tile.is_first) {
        DoubleVec of_sum;
        two_sum(load_lanes(d, mask[v], sums), total, total, of_sum);
        error = hn::Add(load_lanes(d, mask[v], lost), hn::Add(error, of_sum));
      }
      store_lanes(d, mask[v], total, sums);
      store_lanes(d, mask[v], error, lost);
    }
  }
}

// A sum of the block, or its rounded multiple plus beta c: value + rest, off by at most `error`.
struct Doubtful {
  DoubleVec value, rest, error;
  hn::Mask<Doubles> usable;  // nothing overflowed or underflowed on the way
};

// alpha (sum + errors) + beta c.
template <class S>
HWY_INLINE Doubtful scaled(const gemm::Problem<S>& p, DoubleVec sum, DoubleVec errors,
                           DoubleVec error, DoubleVec c) {
  const Doubles d;
  const auto alpha = hn::Set(d, p.product ? double{p.alpha} : 1.0);
  const auto beta = hn::Set(d, p.reads_c ? double{p.beta} : 0.0);
  const auto t = hn::Mul(alpha, sum), u = hn::Mul(beta, c);
  const auto t_rest = fused_multiply_add(d, alpha, sum, hn::Neg(t));
  Doubtful r;
  DoubleVec of_sum;
  two_sum(t, u, r.value, of_sum);
  r.error = hn::Mul(hn::Abs(alpha), error);
  r.value = hn::Add(r.value, hn::Zero(d));  // -0 becomes +0
  if constexpr (std::is_same_v<S, float>) {
    r.rest = hn::Add(t_rest, of_sum);
    r.usable = hn::IsFinite(alpha);
  } else {
    const auto u_rest = fused_multiply_add(d, beta, c, hn::Neg(u)), zero = hn::Zero(d);
    const auto low = hn::Mul(alpha, errors);
    r.rest = hn::Add(hn::Add(t_rest, low), hn::Add(u_rest, of_sum));
    // Each of three additions and the product `low` was rounded, unless only of_sum isn't 0.
    const auto least = hn::IfThenElse(hn::Eq(errors, zero), zero, hn::Set(d, 0x1p-1000));
    const auto terms =
        hn::Add(hn::Add(hn::Abs(t_rest), hn::Abs(u_rest)), hn::Max(hn::Abs(low), least));
    const auto rounded = hn::IfThenElse(hn::Eq(terms, zero), zero, hn::Add(terms, hn::Abs(of_sum)));
    r.error = fused_multiply_add(d, rounded, hn::Set(d, 0x1p-50), r.error);
    // alpha's product with an error may underflow, but is none the less not 0.
    r.error = hn::IfThenElse(hn::Eq(error, zero), r.error, hn::Max(r.error, hn::Set(d, 0x1p-1000)));
    // The rests are exact where the products are large enough, or 0.
    const auto large = hn::Set(d, 0x1p-900);
    r.usable =
        hn::And(hn::Or(hn::Eq(sum, zero), hn::Ge(hn::Abs(t), large)),
                hn::Or(hn::Or(hn::Eq(beta, zero), hn::Eq(c, zero)), hn::Ge(hn::Abs(u), large)));
    r.usable = hn::And(r.usable, hn::IsFinite(r.value));
  }
  return r;
}

// A bit for each lane.
template <class D>
HWY_INLINE uint64_t bits_of(D d, hn::Mask<D> mask) {
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  uint64_t bits;
  hwy::CopyBytes<8>(bytes, &bits);
  return bits;
}

// Rounds both ends of where the result may lie, and returns the lanes in which they agree.
template <class S>
HWY_INLINE uint64_t round_certainly(const Doubtful& x, hn::Vec<Elements<S>>& rounded) {
  const Doubles d;
  const hn::RebindToUnsigned<Elements<S>> du;
  // Where nothing is in doubt, the value (and the rest of it) decides, ties too.
  const bool narrows = std::is_same_v<S, float>;
  const auto doubt = narrows ? hn::Add(x.error, hn::Abs(x.rest)) : x.error;
  const auto of_check = hn::Mul(hn::Abs(narrows ? x.value : x.rest), hn::Set(d, 0x1p-51));
  // An infinite or NaN value of f32 is the result.
  const auto none = hn::Or(hn::Eq(doubt, hn::Zero(d)), hn::Not(hn::IsFinite(x.value)));
  const auto margin = hn::IfThenElse(none, hn::Zero(d), hn::Add(of_check, hn::Add(doubt, doubt)));
  const auto low = narrows ? hn::Sub(x.value, margin) : hn::Add(x.value, hn::Sub(x.rest, margin));
  const auto high = narrows ? hn::Add(x.value, margin) : hn::Add(x.value, hn::Add(x.rest, margin));
  rounded = to_elements<S>(high);
  const auto agree = hn::Eq(hn::BitCast(du, to_elements<S>(low)), hn::BitCast(du, rounded));
  return bits_of(du, agree) & bits_of(d, x.usable);
}

// The 2-norms of rows of f32, rounded up: a sum of k squares lacks at most k roundings. A power of
// two above the largest magnitude for f64.
template <class S>
HWY_INLINE DoubleVec measure(DoubleVec size, double k) {
  const Doubles d;
  if constexpr (std::is_same_v<S, double>) return power_above(size);
  return hn::Mul(hn::Sqrt(hn::Mul(size, hn::Set(d, 1 + k * 0x1p-52))), hn::Set(d, 1 + 0x1p-50));
}
template <class S>
void measure(const double* sizes, int64_t count, double k, double* to) {
  const Doubles d;
  for (int64_t i = 0; i < count; i += kDoubles) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(count - i));
    hn::Store(measure<S>(load_lanes(d, mask, sizes + i), k), d, to + i);
  }
}

// A vector of sums, their measured rows and columns, and C.
template <class S>
HWY_INLINE uint64_t round_vector(const gemm::ExactBlock& block, const gemm::Problem<S>& p,
                                 const double* a_size, const double* a_low, DoubleVec b_size,
                                 DoubleVec b_low, DoubleVec sum, DoubleVec errors, DoubleVec c,
                                 hn::Vec<Elements<S>>& rounded) {
  const Doubles d;
  // The sizes come first: one of them may be near the least number, and the other large.
  const auto size = hn::Mul(hn::Set(d, *a_size), b_size);
  // Multiples of one power of two that are small enough were added exactly.
  const auto all = hn::Mul(size, hn::Set(d, block.exact * 0x1p-53));
  const auto exact = hn::Lt(all, hn::Mul(hn::Set(d, *a_low), b_low));
  auto error = hn::Mul(size, hn::Set(d, block.error));
  if constexpr (std::is_same_v<S, double>) {
    error = hn::Add(error, hn::Set(d, block.k * 0x1p-1073));  // of products that underflow
    two_sum(sum, errors, sum, errors);
  }
  error = hn::IfThenZeroElse(hn::Or(exact, hn::Not(hn::IsFinite(sum))), error);
  return round_certainly<S>(scaled(p, sum, errors, error, c), rounded);
}

template <class S>
void finish_exact(const gemm::ExactBlock& block, const gemm::Problem<S>& p, int64_t i, int64_t j,
                  int64_t rows, int64_t columns, gemm::Matrix<S> c, uint64_t* open) {
  constexpr int64_t kColumns = gemm::ExactKernels<S>::kColumns;
  const Doubles d;
  const Elements<S> de;
  const hn::RebindToUnsigned<Elements<S>> du;
  const bool is_plain = std::is_same_v<S, float> && p.product && p.alpha == S(1) && !p.reads_c;
  HWY_ALIGN double a_size[kColumns], b_size[kColumns];
  measure<S>(block.a_size + i, rows, block.k, a_size);
  measure<S>(block.b_size + j, columns, block.k, b_size);
  for (int64_t r = 0; r < rows; ++r) {
    const double* const sums = block.sums + (i + r) * block.stride + j;
    const double* const errors = block.errors + (i + r) * block.stride + j;
    const auto row_error = hn::Set(d, a_size[r] * block.error);
    open[r] = 0;
    for (int64_t x = 0; x < columns; x += kDoubles) {
      const auto mask = hn::FirstN(d, static_cast<size_t>(columns - x));
      const auto valid = hn::FirstN(de, static_cast<size_t>(columns - x));
      const auto sum = load_lanes(d, mask, sums + x), size = hn::Load(d, b_size + x);
      S* const to = c.at(r, x);
      if (is_plain) {
        const auto margin = hn::Mul(row_error, size);
        const auto low = to_elements<S>(hn::Sub(sum, margin));
        const auto high = to_elements<S>(hn::Add(sum, margin));
        if (HWY_LIKELY(hn::AllTrue(du, hn::Eq(hn::BitCast(du, low), hn::BitCast(du, high))))) {
          store_lanes(de, valid, low, to);
          continue;
        }
      }
      auto rest = hn::Zero(d), old = hn::Zero(d);
      if constexpr (std::is_same_v<S, double>) rest = load_lanes(d, mask, errors + x);
      if (p.reads_c) old = to_doubles<S>(load_lanes(de, valid, to));
      hn::Vec<Elements<S>> rounded;
      const uint64_t certain =
          round_vector<S>(block, p, a_size + r, block.a_low + i + r, size,
                          load_lanes(d, mask, block.b_low + j + x), sum, rest, old, rounded);
      uint8_t bytes[8];
      hwy::CopyBytes<8>(&certain, bytes);
      store_lanes(de, hn::And(valid, hn::LoadMaskBits(de, bytes)), rounded, to);
      open[r] |= (~certain & bits_of(d, mask)) << x;
    }
  }
}

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
