// An exact sum of anything that an operation can meet: a fixed-point number in limbs 32 bits apart,
// for reductions from 2^-2304 to 2^2176. A limb is two signed integers of 64 bits, so that a term
// is one addition of a pair to one limb, and the spare bits hold carries until they are propagated
// (after R. Neal, "Fast exact summation using small and large superaccumulators", 2015).
//
// It is the certain fallback behind the vector kernels, and the state in which partial sums
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

// Limb i weighs 2^(32 i + kLowest).
template <int kLowestBit, int kLimbs>
class Accumulator {
 public:
  static constexpr int kLowest = kLowestBit;

  // low + high * 2^kHigh. A term below 2^57, moved by up to 31 places, adds less than 2^47 to each.
  struct alignas(16) Limb {
    static constexpr int kHigh = 42;
    std::int64_t low, high;

    Wide value() const { return (static_cast<Wide>(high) << kHigh) + low; }
  };
  static constexpr std::int64_t kLowBits = (std::int64_t(1) << Limb::kHigh) - 1;

  void clear() {
    first_ = 0;
    last_ = -1;
    flags_ = 0;
    adds_ = 0;
  }

  // value * 2^exponent, |value| < 2^57, exponent >= kLowest.
  void add(std::int64_t value, int exponent) {
    const int position = exponent - kLowest;
    const Wide moved = static_cast<Wide>(value) << (position & 31);
    Limb& limb = limbs_for(exponent, exponent, 1)[position >> 5];
    limb.low += static_cast<std::int64_t>(moved) & kLowBits;
    limb.high += static_cast<std::int64_t>(moved >> Limb::kHigh);
  }

  // The limbs. The caller adds at most `terms` terms below 2^53 to those that weigh from 2^lowest
  // to 2^highest.
  Limb* limbs_for(int lowest, int highest, std::uint32_t terms) {
    touch((lowest - kLowest) >> 5, (highest - kLowest) >> 5);
    if (adds_ + terms > kAddsBeforeCarry) carry();
    adds_ += terms;
    return limb_;
  }

  // Any double times 2^exponent: finite values exactly, the others as flags.
  void add(double x, int exponent = 0) {
    const Parts parts(x);
    if (!std::isfinite(x)) return note_special(x);
    if (parts.magnitude == 0) return;
    const auto magnitude = static_cast<std::int64_t>(parts.magnitude);
    add(parts.negative ? -magnitude : magnitude, parts.exponent + exponent);
  }

  // The exact product of any two doubles, 106 bits wide at most, times 2^exponent.
  void add_product(double x, double y, int exponent = 0) {
    const Parts a(x), b(y);
    if (!std::isfinite(x) || !std::isfinite(y)) return note_special(x * y);
    const auto product = static_cast<UnsignedWide>(a.magnitude) * b.magnitude;
    if (product == 0) return;
    const int sign = a.negative != b.negative ? -1 : 1;
    exponent += a.exponent + b.exponent;
    add(sign * static_cast<std::int64_t>(product & 0xffffffffffffff), exponent);
    add(sign * static_cast<std::int64_t>(product >> 56), exponent + 56);
  }

  // `factor` times another sum. An infinite factor times an exact zero is NaN.
  template <class Other>
  void add_multiple(double factor, Other& other) {
    if (!std::isfinite(factor) || other.is_special()) return note_special(factor * other.sign());
    other.each_limb([&](double limb, int exponent) { add_product(factor, limb, exponent); });
  }

  void note_special(double x) {
    flags_ |= std::isnan(x) ? kNan : x > 0 ? kPlusInfinity : kMinusInfinity;
  }

  void merge(Accumulator& other) {
    flags_ |= other.flags_;
    if (other.last_ < 0) return;
    other.carry();
    carry();
    touch(other.first_, other.last_);
    for (int i = other.first_; i <= other.last_; ++i) limb_[i].low += other.limb_[i].low;
  }

  // Whether the sum is an infinity or NaN.
  bool is_special() const { return flags_ != 0; }
  bool is_nan() const { return flags_ & kNan || flags_ == (kPlusInfinity | kMinusInfinity); }

  // -1, 0 or 1, or the infinity or NaN that the sum is.
  double sign() {
    if (flags_) return round<double>();
    double leading = 0;
    each_limb([&](double limb, int) { leading = limb != 0 ? limb : leading; });
    return leading < 0 ? -1 : leading > 0;
  }

  // Calls visit(limb, exponent) with the numbers limb * 2^exponent that add up to a finite sum, in
  // ascending order.
  template <class Visit>
  void each_limb(Visit&& visit) {
    carry();
    for (int i = first_; i <= last_; ++i)
      visit(static_cast<double>(limb_[i].low), 32 * i + kLowest);
  }

  // The sum, rounded once to nearest, ties to even. An exact zero is +0.
  template <class R>
  R round() {
    using L = std::numeric_limits<R>;
    if (is_nan()) return L::quiet_NaN();
    if (flags_) return flags_ & kPlusInfinity ? L::infinity() : -L::infinity();
    if (last_ < 0) return 0;
    carry();
    int lowest = first_;
    while (lowest < last_ && limb_[lowest].low == 0) ++lowest;
    const Magnitude magnitude{*this, lowest, limb_[last_].low < 0};
    const R rounded = magnitude.template round<R>();
    return magnitude.negative ? -rounded : rounded;
  }

  // The state in the contract's words. `minus_zeros`: nothing but -0 was added.
  void store(std::uint64_t* state, bool minus_zeros) {
    carry();
    state[0] = TRINE_EXACT_ANY | (minus_zeros ? 0 : TRINE_EXACT_NOT_MINUS_ZERO) |
               (is_nan() ? std::uint32_t{TRINE_EXACT_NAN} : flags_);
    constexpr int kFirst = (TRINE_EXACT_LOWEST - kLowest) / 32;
    for (int w = 1; w < TRINE_EXACT_WORDS; ++w) {
      const int i = kFirst + 2 * (w - 1);
      state[w] = flags_ ? 0 : digit(i + 1) << 32 | digit(i);
    }
  }

 private:
  static constexpr std::uint32_t kAddsBeforeCarry = 1u << 15;
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
      std::fill(limb_ + from, limb_ + first_, Limb{});
      first_ = from;
    }
    if (to > last_) {
      std::fill(limb_ + last_ + 1, limb_ + to + 1, Limb{});
      last_ = to;
    }
  }

  // Every limb but the last into [0, 2^32); the last one keeps the sign, within 32 bits.
  void carry() {
    adds_ = 0;
    if (last_ < 0) return;
    Wide over = 0;
    int i = first_;
    for (; i < last_; ++i, over >>= 32) {
      over += limb_[i].value();
      limb_[i] = {static_cast<std::int64_t>(over & 0xffffffff), 0};
    }
    over += limb_[i].value();
    for (; over != static_cast<std::int32_t>(over) && i < kLimbs - 1; ++i, over >>= 32)
      limb_[i] = {static_cast<std::int64_t>(over & 0xffffffff), 0};
    limb_[i] = {static_cast<std::int64_t>(over), 0};
    last_ = i;
  }

  // A carried sum without its sign.
  struct Magnitude {
    const Accumulator& sum;
    int lowest;  // the first limb that isn't zero, or the last one
    bool negative;

    // The negative of a number has inverted limbs, and a negated lowest one.
    std::uint64_t limb(int i) const {
      const std::uint64_t digit = sum.limb_at(i);
      if (i < lowest || i > sum.last_ || !negative) return digit;
      return (i == lowest ? -digit : ~digit) & 0xffffffff;
    }
    std::uint64_t bits(int low, int top) const {
      std::uint64_t value = 0;
      for (int i = top >> 5; i >= low >> 5; --i) {
        const int shift = 32 * i - low;
        value |= shift >= 0 ? limb(i) << shift : limb(i) >> -shift;
      }
      return value;
    }
    bool any_below(int position) const {
      const int i = position >> 5;
      const auto below = (std::uint64_t(1) << (position & 31)) - 1;
      return (lowest < i && sum.limb_at(lowest) != 0) || (limb(i) & below) != 0;
    }
    // The bits from `top` down to the result's last, then one rounding.
    template <class R>
    R round() const {
      using L = std::numeric_limits<R>;
      int last = sum.last_;
      while (last >= lowest && limb(last) == 0) --last;
      if (last < lowest) return 0;
      const int top = 32 * last + 63 - std::countl_zero(limb(last));
      if (top + kLowest >= L::max_exponent) return L::infinity();
      const int least = L::min_exponent - L::digits - kLowest;  // position of the smallest denormal
      const int low = std::max(top - (L::digits - 1), least);   // position of the result's last bit
      std::uint64_t kept = top < low ? 0 : bits(low, top);
      const bool half = bits(low - 1, low - 1) & 1;
      if (half && ((kept & 1) || any_below(low - 1))) ++kept;
      return static_cast<R>(std::ldexp(static_cast<double>(kept), low + kLowest));
    }
  };

  std::uint64_t limb_at(int i) const {
    return i >= first_ && i <= last_ ? static_cast<std::uint64_t>(limb_[i].low) : 0;
  }
  // Carried: 32 bits of the two's complement number, which has no end upwards.
  std::uint64_t digit(int i) const {
    if (last_ >= 0 && i > last_) return limb_[last_].low < 0 ? 0xffffffff : 0;
    return limb_at(i) & 0xffffffff;
  }

  int first_ = 0, last_ = -1;  // the touched limbs
  std::uint32_t flags_ = 0;
  std::uint32_t adds_ = 0;
  Limb limb_[kLimbs];
};

using SuperAccumulator = Accumulator<-2304, 141>;

}  // namespace trine::cpu
