// The exact sum of floating-point values and of their products: a fixed-point integer wide enough
// for every f64 and every product of two, rounded once at the end.
//
// The integer is an array of 32-bit chunks held in signed 64-bit words, so that a billion additions
// need no carry (R. Neal, "Fast exact summation using small and large superaccumulators", 2015).
//
//   chunk c weighs 2^(32 c - 2176);  lowest bit in use 2^-2148 (a squared f64 denormal),
//   highest 2^2047 (a squared large f64) times 2^60 terms.
#pragma once

#include <cstdint>

namespace trine::oracle {

class ExactSum {
 public:
  template <class T>
  void add(T value);
  template <class T>
  void add_product(T x, T y);

  /// Multiplies the sum by `times`, as a broadcast view needs it. times < 2^40.
  void multiply(uint64_t times);
  /// Adds another sum.
  void merge(const ExactSum& other);

  /// The sum rounded once to nearest-even, by the design's rules for NaN, Inf, overflow and zero.
  float to_f32() const { return round<float>(); }
  double to_f64() const { return round<double>(); }
  /// The state as <trine/ops.h> has it: TRINE_EXACT_WORDS words.
  void state(uint64_t* words) const;

 private:
  static constexpr int kBias = 2176, kChunks = 138;
  static constexpr int64_t kMaxPending = int64_t{1} << 30;

  template <class T>
  T round() const;
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
