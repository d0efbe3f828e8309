// The exact sum of floating-point values, of their products, and of such sums times a value: a
// fixed-point integer wide enough for every product of three f64, rounded once at the end.
//
// The integer is an array of 32-bit chunks held in signed 64-bit words, so that a billion additions
// need no carry (R. Neal, "Fast exact summation using small and large superaccumulators", 2015).
//
//   chunk c weighs 2^(32 c - 3264);  lowest bit in use 2^-3222 (a cubed f64 denormal),
//   highest 2^3071 (a cubed large f64) times 2^60 terms.
#pragma once

#include <cstdint>

namespace trine::oracle {

class ExactSum {
 public:
  template <class T>
  void add(T value);
  template <class T>
  void add_product(T x, T y);

  /// Adds another sum times a factor. NaN, infinities and zeros multiply as IEEE has it; an exact
  /// zero is +0.
  template <class T>
  void add_multiple(const ExactSum& other, T factor);

  /// Multiplies the sum by `times`, as a broadcast view needs it. times < 2^40.
  void multiply(uint64_t times);
  /// Adds another sum.
  void merge(const ExactSum& other);

  /// The sum rounded once to nearest-even, by the design's rules for NaN, Inf, overflow and zero.
  template <class T>
  T round() const;
  float to_f32() const { return round<float>(); }
  double to_f64() const { return round<double>(); }
  /// The state as <trine/ops.h> has it: TRINE_EXACT_WORDS words.
  void state(uint64_t* words) const;

 private:
  static constexpr int kBias = 3264, kChunks = 206;
  static constexpr int64_t kMaxPending = int64_t{1} << 30;

  __extension__ using Wide = unsigned __int128;
  __extension__ using SignedWide = __int128;

  bool is_finite() const { return !nan_ && !plus_infinity_ && !minus_infinity_; }
  /// Takes the sign off the finite part and carries it; returns whether it was negative.
  bool drop_sign();
  /// The highest chunk that isn't 0, of a carried sum without sign; -1 if there is none.
  int top() const;
  void add_wide(Wide mantissa, int exponent, bool negative);
  void add_shifted(uint64_t mantissa, int exponent, bool negative);
  void carry();

  int64_t chunks_[kChunks] = {};
  /// The chunks in use, so that a sum of few values costs little; the last one has the sum's sign.
  int low_ = kChunks, high_ = 0;
  int64_t pending_ = 0;
  bool nan_ = false, plus_infinity_ = false, minus_infinity_ = false;
  bool any_ = false, only_negative_zeros_ = true;
};

}  // namespace trine::oracle
