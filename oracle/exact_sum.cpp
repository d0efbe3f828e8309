// The superaccumulator: decompose, add into chunks, carry, round.
#include "exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "bits.hpp"

namespace trine::oracle {
namespace {

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

constexpr uint64_t kChunkMask = 0xffffffff;

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

void ExactSum::carry() { multiply(1); }

template <class T>
void ExactSum::add_value(T value, bool square) {
  using F = FloatBits<T>;
  const typename F::Bits bits = std::bit_cast<typename F::Bits>(value);
  const bool negative = !square && (bits & F::kSign) != 0;
  const int field = int((bits & F::kExponentMask) >> F::kMantissaBits);
  uint64_t mantissa = bits & F::kMantissaMask;
  any_ = true;
  only_negative_zeros_ &= bits == F::kSign && !square;
  if (field == F::kExponentMax) {
    (mantissa != 0 ? nan_ : negative ? minus_infinity_ : plus_infinity_) = true;
    return;
  }
  if (field != 0) mantissa |= uint64_t{1} << F::kMantissaBits;
  const int exponent = (field != 0 ? field : 1) - 1 + F::kLowestExponent;
  if (!square) return add_shifted(mantissa, exponent, negative);
  const Wide product = Wide{mantissa} * mantissa;
  add_shifted(uint64_t(product), 2 * exponent, false);
  add_shifted(uint64_t(product >> 64), 2 * exponent + 64, false);
}

void ExactSum::add(float value) { add_value(value, false); }
void ExactSum::add(double value) { add_value(value, false); }
void ExactSum::add_square(float value) { add_value(value, true); }
void ExactSum::add_square(double value) { add_value(value, true); }

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
  sum.carry();
  const bool negative = sum.chunks_[sum.high_] < 0;
  if (negative) {
    for (int c = sum.low_; c <= sum.high_; ++c) sum.chunks_[c] = -sum.chunks_[c];
    sum.carry();
  }
  int top = sum.high_;
  while (top >= sum.low_ && sum.chunks_[top] == 0) --top;
  if (top < sum.low_) return any_ && only_negative_zeros_ ? T(-0.0) : T(0.0);
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

  // A mantissa with its implicit bit raises the exponent field by one, so the parts just add up.
  const Bits magnitude = (Bits(last - kLowestPosition) << F::kMantissaBits) + Bits(mantissa);
  const T rounded = magnitude >= F::kExponentMask ? kInfinity : std::bit_cast<T>(magnitude);
  return negative ? -rounded : rounded;
}

template float ExactSum::round<float>() const;
template double ExactSum::round<double>() const;

}  // namespace trine::oracle
