// An exact sum of anything a reduction can meet: a fixed-point number from 2^-2304 to 2^2176 in
// signed 64-bit limbs of 32 bits each, whose spare bits hold carries until they are propagated
// (R. Neal, "Fast exact summation using small and large superaccumulators", 2015).
//
// It is the slow and certain road behind the vector kernels, and the state in which partial sums
// meet: merging is exact, so the order of the parts can't matter. Only limbs that were touched are
// cleared, carried or merged: a sum of like numbers costs a few limbs, not all of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/ops.h"

namespace trine::cpu {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

class SuperAccumulator {
 public:
  void clear() {
    first_ = 0;
    last_ = -1;
    flags_ = 0;
    adds_ = 0;
  }

  // value * 2^exponent, exponent >= kLowest.
  void add(std::int64_t value, int exponent) {
    const int position = exponent - kLowest;
    const int limb = position >> 5;
    touch(limb, limb + 2);
    // Multiplied, not shifted: a negative number keeps its meaning.
    const auto wide = static_cast<Wide>(value) * (std::int64_t(1) << (position & 31));
    limb_[limb] += static_cast<std::uint32_t>(wide);
    limb_[limb + 1] += static_cast<std::uint32_t>(wide >> 32);
    limb_[limb + 2] += static_cast<std::int64_t>(wide >> 64);
    if (++adds_ >= kAddsBeforeCarry) carry();
  }

  // Any double times 2^exponent: finite values exactly, the others as flags.
  void add(double x, int exponent = 0) {
    const Parts parts(x);
    if (!std::isfinite(x)) return note_special(x);
    if (parts.magnitude == 0) return;
    const auto magnitude = static_cast<std::int64_t>(parts.magnitude);
    add(parts.negative ? -magnitude : magnitude, parts.exponent + exponent);
  }

  // The exact product of any two doubles, 106 bits wide at most.
  void add_product(double x, double y) {
    const Parts a(x), b(y);
    if (!std::isfinite(x) || !std::isfinite(y)) return note_special(x * y);
    const auto product = static_cast<UnsignedWide>(a.magnitude) * b.magnitude;
    if (product == 0) return;
    const int sign = a.negative != b.negative ? -1 : 1;
    const int exponent = a.exponent + b.exponent;
    add(sign * static_cast<std::int64_t>(product & 0xffffffffffffff), exponent);
    add(sign * static_cast<std::int64_t>(product >> 56), exponent + 56);
  }

  void note_special(double x) {
    flags_ |= std::isnan(x) ? kNan : x > 0 ? kPlusInfinity : kMinusInfinity;
  }

  void merge(SuperAccumulator& other) {
    flags_ |= other.flags_;
    if (other.last_ < 0) return;
    other.carry();
    carry();
    touch(other.first_, other.last_);
    for (int i = other.first_; i <= other.last_; ++i) limb_[i] += other.limb_[i];
  }

  // The sum, rounded once to nearest, ties to even. An exact zero is +0.
  template <class R>
  R round() {
    using L = std::numeric_limits<R>;
    if (flags_ & kNan || flags_ == (kPlusInfinity | kMinusInfinity)) return L::quiet_NaN();
    if (flags_) return flags_ & kPlusInfinity ? L::infinity() : -L::infinity();
    if (last_ < 0) return 0;
    carry();
    const bool negative = limb_[last_] < 0;
    if (negative) {
      for (int i = first_; i <= last_; ++i) limb_[i] = -limb_[i];
      carry();
    }
    const R magnitude = round_magnitude<R>();
    if (negative) {  // as it was: rounding changes no state
      for (int i = first_; i <= last_; ++i) limb_[i] = -limb_[i];
    }
    return negative ? -magnitude : magnitude;
  }

  // The state in the contract's words. `minus_zeros`: nothing but -0 was added.
  void store(std::uint64_t* state, bool minus_zeros) {
    carry();
    const bool nan = flags_ & kNan || flags_ == (kPlusInfinity | kMinusInfinity);
    state[0] = TRINE_EXACT_ANY | (minus_zeros ? 0 : TRINE_EXACT_NOT_MINUS_ZERO) |
               (nan ? std::uint32_t{TRINE_EXACT_NAN} : flags_);
    constexpr int kFirst = (TRINE_EXACT_LOWEST - kLowest) / 32;
    for (int w = 1; w < TRINE_EXACT_WORDS; ++w) {
      const int i = kFirst + 2 * (w - 1);
      state[w] = flags_ ? 0 : digit(i + 1) << 32 | digit(i);
    }
  }

 private:
  static constexpr int kLowest = -2304;
  static constexpr int kLimbs = 141;
  static constexpr std::uint32_t kAddsBeforeCarry = 1u << 30;
  static constexpr std::uint64_t kFraction = (std::uint64_t(1) << 52) - 1;
  enum : std::uint32_t {
    kNan = TRINE_EXACT_NAN,
    kPlusInfinity = TRINE_EXACT_PLUS_INFINITY,
    kMinusInfinity = TRINE_EXACT_MINUS_INFINITY
  };

  // A finite double: magnitude * 2^exponent.
  struct Parts {
    bool negative;
    std::uint64_t magnitude;
    int exponent;

    explicit Parts(double x) {
      const auto bits = std::bit_cast<std::uint64_t>(x);
      const int biased = static_cast<int>(bits >> 52) & 0x7ff;
      negative = bits >> 63;
      magnitude = (bits & kFraction) | (biased ? std::uint64_t(1) << 52 : 0);
      exponent = (biased ? biased : 1) - 1075;
    }
  };

  // Brings limbs `from` to `to` into the touched range; new ones are zero.
  void touch(int from, int to) {
    if (from >= first_ && to <= last_) return;
    if (last_ < 0) {
      first_ = from;
      last_ = from - 1;
    }
    if (from < first_) {
      std::fill(limb_ + from, limb_ + first_, 0);
      first_ = from;
    }
    if (to > last_) {
      std::fill(limb_ + last_ + 1, limb_ + to + 1, 0);
      last_ = to;
    }
  }

  // Every limb but the last into [0, 2^32); the last one keeps the sign, within 32 bits.
  void carry() {
    adds_ = 0;
    if (last_ < 0) return;
    std::int64_t over = 0;
    for (int i = first_; i < last_; ++i) {
      const std::int64_t value = limb_[i] + over;
      over = value >> 32;
      limb_[i] = value & 0xffffffff;
    }
    limb_[last_] += over;
    for (int i = last_; i < kLimbs - 1; last_ = ++i) {
      const std::int64_t value = limb_[i];
      if (value == static_cast<std::int32_t>(value)) break;
      limb_[i] = value & 0xffffffff;
      limb_[i + 1] = value >> 32;
    }
  }

  // Carried and not negative: the bits from `top` down to the result's last, then one rounding.
  template <class R>
  R round_magnitude() const {
    using L = std::numeric_limits<R>;
    int limb = last_;
    while (limb >= first_ && limb_[limb] == 0) --limb;
    if (limb < first_) return 0;
    const int top = 32 * limb + 63 - std::countl_zero(static_cast<std::uint64_t>(limb_[limb]));
    if (top + kLowest >= L::max_exponent) return L::infinity();
    const int lowest = L::min_exponent - L::digits - kLowest;  // position of the smallest denormal
    const int low = std::max(top - (L::digits - 1), lowest);   // position of the result's last bit
    std::uint64_t kept = top < low ? 0 : bits(low, top);
    const bool half = bit(low - 1);
    if (half && ((kept & 1) || any_below(low - 1))) ++kept;
    return static_cast<R>(std::ldexp(static_cast<double>(kept), low + kLowest));
  }

  std::uint64_t limb_at(int i) const {
    return i >= first_ && i <= last_ ? static_cast<std::uint64_t>(limb_[i]) : 0;
  }
  // Carried: 32 bits of the two's complement number, which has no end upwards.
  std::uint64_t digit(int i) const {
    if (last_ >= 0 && i > last_) return limb_[last_] < 0 ? 0xffffffff : 0;
    return limb_at(i) & 0xffffffff;
  }
  std::uint64_t bits(int low, int top) const {
    std::uint64_t value = 0;
    for (int i = top >> 5; i >= low >> 5; --i) {
      const int shift = 32 * i - low;
      value |= shift >= 0 ? limb_at(i) << shift : limb_at(i) >> -shift;
    }
    return value;
  }
  bool bit(int position) const { return limb_at(position >> 5) >> (position & 31) & 1; }
  bool any_below(int position) const {
    const int i = position >> 5;
    for (int j = first_; j < std::min(i, last_ + 1); ++j)
      if (limb_[j] != 0) return true;
    return (limb_at(i) & ((std::uint64_t(1) << (position & 31)) - 1)) != 0;
  }

  int first_ = 0, last_ = -1;  // the touched limbs
  std::uint32_t flags_ = 0;
  std::uint32_t adds_ = 0;
  std::int64_t limb_[kLimbs];  // limb i weighs 2^(32 i + kLowest)
};

}  // namespace trine::cpu
