// The superaccumulator: decompose, add into chunks, carry, round.
#include "exact_sum.hpp"

#include "backends/ops.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "bits.hpp"

namespace trine::oracle {
namespace {

constexpr uint64_t kChunkMask = 0xffffffff;

/// mantissa * 2^exponent; of a NaN or an infinity the fraction alone.
struct Parts {
  bool negative, finite;
  uint64_t mantissa;
  int exponent;
};

template <class T>
Parts parts_of(T value) {
  using F = FloatBits<T>;
  const auto bits = std::bit_cast<typename F::Bits>(value);
  const int field = int((bits & F::kExponentMask) >> F::kMantissaBits);
  Parts parts{(bits & F::kSign) != 0, field != F::kExponentMax, bits & F::kMantissaMask,
              (field != 0 ? field : 1) - 1 + F::kLowestExponent};
  if (field != 0 && parts.finite) parts.mantissa |= uint64_t{1} << F::kMantissaBits;
  return parts;
}

}  // namespace

void ExactSum::add_shifted(uint64_t mantissa, int exponent, bool negative) {
  const int position = exponent + kBias;
  const Wide shifted = Wide{mantissa} << (position & 31);
  const int first = position >> 5;
  low_ = std::min(low_, first), high_ = std::max(high_, first + 2);
  int64_t* chunk = chunks_ + first;
  const int64_t part[3] = {int64_t(uint64_t(shifted) & kChunkMask),
                           int64_t(uint64_t(shifted >> 32) & kChunkMask), int64_t(shifted >> 64)};
  const int64_t flip = negative ? -1 : 0;  // (x ^ -1) + 1 == -x
  for (int i = 0; i < 3; ++i) chunk[i] += (part[i] ^ flip) - flip;
  if (++pending_ == kMaxPending) carry();
}

void ExactSum::add_wide(Wide mantissa, int exponent, bool negative) {
  add_shifted(uint64_t(mantissa), exponent, negative);
  const auto high = uint64_t(mantissa >> 64);
  if (high != 0) add_shifted(high, exponent + 64, negative);
}

void ExactSum::carry() { multiply(1); }

bool ExactSum::drop_sign() {
  carry();
  const bool negative = low_ <= high_ && chunks_[high_] < 0;
  if (negative) {
    for (int c = low_; c <= high_; ++c) chunks_[c] = -chunks_[c];
    carry();
  }
  return negative;
}

int ExactSum::top() const {
  int top = high_;
  while (top >= low_ && chunks_[top] == 0) --top;
  return top < low_ ? -1 : top;
}

template <class T>
void ExactSum::add(T value) {
  const Parts parts = parts_of(value);
  any_ = true;
  only_negative_zeros_ &= parts.finite && parts.negative && parts.mantissa == 0;
  if (!parts.finite)
    (parts.mantissa != 0 ? nan_ : parts.negative ? minus_infinity_ : plus_infinity_) = true;
  else
    add_shifted(parts.mantissa, parts.exponent, parts.negative);
}

template <class T>
void ExactSum::add_product(T x, T y) {
  const Parts a = parts_of(x), b = parts_of(y);
  const bool negative = a.negative != b.negative;
  if (!a.finite || !b.finite) {
    any_ = true, only_negative_zeros_ = false;
    // NaN, or an infinity times zero.
    const bool is_nan = (!a.finite && a.mantissa != 0) || (!b.finite && b.mantissa != 0) ||
                        (a.finite && a.mantissa == 0) || (b.finite && b.mantissa == 0);
    (is_nan ? nan_ : negative ? minus_infinity_ : plus_infinity_) = true;
    return;
  }
  const Wide product = Wide{a.mantissa} * b.mantissa;
  const int exponent = a.exponent + b.exponent;
  any_ = true;
  only_negative_zeros_ &= negative && product == 0;
  add_wide(product, exponent, negative);
}

template <class T>
void ExactSum::add_multiple(const ExactSum& other, T factor) {
  const Parts f = parts_of(factor);
  ExactSum sum = other;
  const bool negative = sum.drop_sign();
  if (!other.is_finite()) return add_product(other.round<T>(), factor);
  if (!f.finite) return add_product(sum.top() < 0 ? T(0) : T(negative ? -1 : 1), factor);
  any_ = true, only_negative_zeros_ = false;
  for (int c = sum.low_; c <= sum.high_; ++c)
    add_wide(Wide(sum.chunks_[c]) * f.mantissa, f.exponent + 32 * c - kBias,
             negative != f.negative);
}

void ExactSum::multiply(uint64_t times) {
  pending_ = 1;
  if (low_ > high_) return;
  SignedWide carried = 0;
  for (int c = low_;; ++c) {
    const SignedWide value = SignedWide{chunks_[c]} * SignedWide{times} + carried;
    if (c == kChunks - 1 || (c >= high_ && value == int32_t(value))) {
      chunks_[c] = int64_t(value);
      high_ = c;
      return;
    }
    chunks_[c] = int64_t(uint64_t(value) & kChunkMask);
    carried = value >> 32;
  }
}

void ExactSum::merge(const ExactSum& other) {
  carry();
  ExactSum carried = other;
  carried.carry();
  for (int c = carried.low_; c <= carried.high_; ++c) chunks_[c] += carried.chunks_[c];
  low_ = std::min(low_, carried.low_), high_ = std::max(high_, carried.high_);
  carry();
  nan_ |= other.nan_;
  plus_infinity_ |= other.plus_infinity_;
  minus_infinity_ |= other.minus_infinity_;
  any_ |= other.any_;
  only_negative_zeros_ &= other.only_negative_zeros_;
}

template <class T>
T ExactSum::round() const {
  using F = FloatBits<T>;
  using Bits = typename F::Bits;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  if (nan_ || (plus_infinity_ && minus_infinity_)) return std::numeric_limits<T>::quiet_NaN();
  if (plus_infinity_) return kInfinity;
  if (minus_infinity_) return -kInfinity;

  ExactSum sum = *this;
  const bool negative = sum.drop_sign();
  const int top = sum.top();
  if (top < 0) return any_ && only_negative_zeros_ ? T(-0.0) : T(0.0);
  const int highest = 32 * top + 63 - std::countl_zero(uint64_t(sum.chunks_[top]));

  // The last place kept: the highest bit's own, or the lowest that the type has.
  constexpr int kLowestPosition = F::kLowestExponent + kBias;
  const int last =
      highest - F::kMantissaBits > kLowestPosition ? highest - F::kMantissaBits : kLowestPosition;
  const auto bit = [&](int position) {
    return uint64_t(sum.chunks_[position >> 5]) >> (position & 31) & 1;
  };
  if (last - kLowestPosition >= F::kExponentMax) return negative ? -kInfinity : kInfinity;
  uint64_t mantissa = 0;
  for (int p = highest; p >= last; --p) mantissa = mantissa << 1 | bit(p);
  // Whether anything lies below the bit that decides a rounding.
  const int half = last - 1;
  bool below_half = (uint64_t(sum.chunks_[half >> 5]) & ((uint64_t{1} << (half & 31)) - 1)) != 0;
  for (int c = sum.low_; c < half >> 5; ++c) below_half |= sum.chunks_[c] != 0;
  if (bit(last - 1) != 0 && (below_half || (mantissa & 1) != 0)) ++mantissa;

  // The implicit bit of the mantissa adds one to the exponent field, so the two parts are simply
  // added.
  const Bits magnitude = (Bits(last - kLowestPosition) << F::kMantissaBits) + Bits(mantissa);
  const T rounded = magnitude >= F::kExponentMask ? kInfinity : std::bit_cast<T>(magnitude);
  return negative ? -rounded : rounded;
}

void ExactSum::state(uint64_t* words) const {
  const bool is_nan = nan_ || (plus_infinity_ && minus_infinity_);
  words[0] = (is_nan            ? TRINE_EXACT_NAN
              : plus_infinity_  ? TRINE_EXACT_PLUS_INFINITY
              : minus_infinity_ ? TRINE_EXACT_MINUS_INFINITY
                                : 0) |
             (any_ ? TRINE_EXACT_ANY : 0) |
             (any_ && !only_negative_zeros_ ? TRINE_EXACT_NOT_MINUS_ZERO : 0);
  std::fill_n(words + 1, TRINE_EXACT_WORDS - 1, 0);
  constexpr int kFirst = (kBias + TRINE_EXACT_LOWEST) / 32;  // a state has no lower chunks
  static_assert(kFirst * 32 == kBias + TRINE_EXACT_LOWEST);
  SignedWide carried = 0;
  for (int c = 0; is_finite() && c < 2 * (TRINE_EXACT_WORDS - 1); ++c) {
    if (kFirst + c >= low_ && kFirst + c <= high_) carried += chunks_[kFirst + c];
    words[1 + c / 2] |= uint64_t(carried & kChunkMask) << (c % 2 * 32);
    carried >>= 32;
  }
}

template void ExactSum::add(float);
template void ExactSum::add(double);
template void ExactSum::add_product(float, float);
template void ExactSum::add_product(double, double);
template void ExactSum::add_multiple(const ExactSum&, float);
template void ExactSum::add_multiple(const ExactSum&, double);
template float ExactSum::round<float>() const;
template double ExactSum::round<double>() const;

}  // namespace trine::oracle
