// The arithmetic of exact sums that GPU kernels share (backends/gpu/kernels/reduce/exact.h),
// compiled as host C++ and held against the oracle's integer sum, bit by bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "oracle/exact_sum.hpp"

namespace {

// The words of the kernels' preludes.
using uint = unsigned int;
using ulong = unsigned long;
#define DEVICE [[maybe_unused]] inline
#define LOCAL_POINTER
double as_double(ulong bits) { return std::bit_cast<double>(bits); }
ulong as_ulong(double value) { return std::bit_cast<ulong>(value); }
uint as_uint(float value) { return std::bit_cast<uint>(value); }
int clz(uint bits) { return std::countl_zero(bits); }
uint atomic_add(uint* word, uint value) { return std::exchange(*word, *word + value); }
using std::fma;
#include "backends/gpu/kernels/reduce/exact.h"

using trine::oracle::ExactSum;

__extension__ typedef unsigned __int128 Wide;

/// Doubles of any exponent from 2^-range to 2^range, both signs.
std::vector<double> wide_values(int count, int range, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    const double fraction = double(random() >> 11) * 0x1p-53 - 0.5;
    values.push_back(std::ldexp(fraction, int(random() % (2 * uint64_t(range) + 1)) - range));
  }
  return values;
}

double exact(const std::vector<double>& values) {
  ExactSum sum;
  for (double value : values) sum.add(value);
  return sum.to_f64();
}

/// A superaccumulator over the whole of f64, or its squares, as kernels keep it.
class Accumulator {
 public:
  explicit Accumulator(int base) : base_(base) {}
  void add(ulong mantissa, int position, bool negative) {
    accumulator_add(low_, high_, 1, mantissa, position, negative);
  }
  void add(double value) {
    int position;
    const ulong mantissa = mantissa_f64(as_ulong(value), &position);
    add(mantissa, position - 1074 - base_, std::signbit(value));
  }
  ulong round(bool wide) const {
    bool negative = false;
    Digits digits = read(false);
    if (digits_end(&digits)) {
      negative = true;
      digits = read(true);
      EXPECT_FALSE(digits_end(&digits));
    }
    return result_bits(digits_round(&digits, base_, wide), negative, FLAG_NOT_MINUS_ZERO, wide);
  }
  double to_f64() const { return as_double(round(true)); }
  float to_f32() const { return std::bit_cast<float>(uint(round(false))); }

 private:
  static constexpr int kWords = 104;
  Digits read(bool negated) const {
    Digits digits = digits_none();
    for (int w = 0; w < kWords; ++w) {
      const ulong word = ulong(high_[w]) << 32 | low_[w];
      digits_read(&digits, long(negated ? 0 - word : word));
    }
    return digits;
  }
  int base_;
  uint low_[kWords] = {}, high_[kWords] = {};
};

TEST(Exact, TwoSumLosesNothing) {
  const auto values = wide_values(20000, 60, 1);
  for (size_t i = 1; i < values.size(); ++i) {
    double error;
    const double sum = two_sum(values[i - 1], values[i], &error);
    ASSERT_EQ(sum, values[i - 1] + values[i]);
    ASSERT_EQ(exact({values[i - 1], values[i], -sum, -error}), 0.0);
  }
}

TEST(Exact, TwoProductLosesNothingInItsRange) {
  const auto values = wide_values(20000, 480, 2);
  for (size_t i = 1; i < values.size(); ++i) {
    const double x = values[i - 1], y = values[i];
    double error;
    const double product = two_product(x, y, &error);
    ExactSum sum;
    sum.add_product(x, y);
    sum.add(-product);
    sum.add(-error);
    ASSERT_EQ(sum.to_f64(), 0.0) << x << ' ' << y;
  }
}

TEST(Exact, ExpansionHoldsItsTermsOrSaysSo) {
  int lossy = 0;
  for (int range : {0, 20, 40, 60, 200, 900}) {
    Expansion expansion = expansion_zero();
    ExactSum sum;
    ulong lost = 0;
    for (double value : wide_values(1000, range, uint64_t(range))) {
      lost |= expansion_add(&expansion, value);
      sum.add(-value);
    }
    sum.add(expansion.hi), sum.add(expansion.mid), sum.add(expansion.lo);
    EXPECT_EQ(sum.to_f64() != 0, lost != 0) << range;
    lossy += lost != 0;
  }
  EXPECT_GE(lossy, 1);
  EXPECT_LE(lossy, 3);
}

TEST(Exact, ExpansionReportsWhatIsNotFinite) {
  for (double value : {std::nan(""), double(INFINITY), -double(INFINITY)}) {
    Expansion expansion = expansion_zero();
    expansion_add(&expansion, 1.0);
    EXPECT_NE(expansion_add(&expansion, value), 0u) << value;
  }
}

TEST(Exact, OnlyMinusZerosLeaveMinusZero) {
  Expansion expansion = expansion_zero();
  EXPECT_EQ(expansion_add(&expansion, -0.0), 0u);
  EXPECT_TRUE(std::signbit(expansion.hi));
  expansion_add(&expansion, 0.0);
  EXPECT_FALSE(std::signbit(expansion.hi));
}

/// The sum by expansions of 16 values each, folds, and words.
double folded(const std::vector<double>& values, bool backwards, bool* fits) {
  std::vector<Expansion> parts((values.size() + 15) / 16, expansion_zero());
  ulong lost = 0;
  uint top = 0;
  for (size_t i = 0; i < values.size(); ++i) lost |= expansion_add(&parts[i / 16], values[i]);
  for (const Expansion& part : parts) top = std::max(top, expansion_exponent(&part));
  Folds total = {};
  for (size_t i = 0; i < parts.size(); ++i) {
    Folds folds;
    lost |= folds_of(&parts[backwards ? parts.size() - 1 - i : i], top, &folds);
    for (int k = 0; k < FOLDS; ++k) total.part[k] += folds.part[k];
  }
  *fits = lost == 0 && top <= FOLD_TOP_LIMIT;
  if (!*fits) return 0;
  long words[5];
  folds_to_words(&total, top, words);
  return as_double(round_words(words, 5, fold_grid(top, FOLDS - 1), FLAG_NOT_MINUS_ZERO, true));
}

TEST(Exact, FoldsAddUpInAnyOrder) {
  int fitted = 0;
  for (int range : {0, 10, 30, 60, 300}) {
    for (int shift : {-1060, -1000, 0, 900}) {
      const int seed = range + shift + 5000;
      auto values = wide_values(4000, range, uint64_t(seed));
      for (double& value : values) value = std::ldexp(value, shift);
      for (size_t i = 1; i < values.size(); i += 3) values[i] = -values[i - 1];  // cancelling
      bool fits;
      for (bool backwards : {false, true}) {
        const double sum = folded(values, backwards, &fits);
        if (fits) { EXPECT_EQ(sum, exact(values)) << range << " " << shift; }
        fitted += fits;
      }
    }
  }
  EXPECT_GE(fitted, 16);
}

TEST(Exact, EveryFoldCounts) {
  for (int depth = 0; depth < 106; ++depth) {
    std::vector<double> values(48, 0.0);  // what cancels lies in different expansions
    values[0] = 1.0, values[16] = std::ldexp(1 + 0x1.0f0fp-4, -depth), values[32] = -1.0;
    bool fits;
    EXPECT_EQ(folded(values, false, &fits), values[16]);
    EXPECT_TRUE(fits);
  }
}

TEST(Exact, FoldsRefuseWhatLiesBelowThem) {
  bool fits;
  folded({1.0, 0x1p-150}, false, &fits);
  EXPECT_TRUE(fits);
  folded({1.0, 0x1p-161}, false, &fits);
  EXPECT_FALSE(fits);
  folded({0x1p1020, 1.0}, false, &fits);
  EXPECT_FALSE(fits);
}

TEST(Exact, AccumulatorRoundsAsTheOracle) {
  for (int range : {0, 30, 120, 900, 1022}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      auto values = wide_values(3000, range, seed);
      if (seed % 2)
        for (size_t i = 1; i < values.size(); i += 2) values[i] = -values[i - 1];
      values.push_back(std::ldexp(1.0, -1074));
      Accumulator accumulator(-1074);
      ExactSum sum;
      for (double value : values) accumulator.add(value), sum.add(value);
      EXPECT_EQ(as_ulong(accumulator.to_f64()), as_ulong(sum.to_f64()));
      EXPECT_EQ(std::bit_cast<uint>(accumulator.to_f32()), std::bit_cast<uint>(sum.to_f32()));
    }
  }
}

TEST(Exact, AccumulatorTakesSquares) {
  for (int range : {10, 500, 1000}) {
    Accumulator accumulator(-2148);
    ExactSum sum;
    for (double value : wide_values(2000, range, 3)) {
      if (std::fabs(value) >= 0x1p511) continue;
      int position;
      const ulong mantissa = mantissa_f64(as_ulong(std::fabs(value)), &position);
      const Wide square = Wide(mantissa) * mantissa;
      accumulator.add(ulong(square), 2 * position, false);
      accumulator.add(ulong(square >> 64), 2 * position + 64, false);
      sum.add_product(value, value);
    }
    EXPECT_EQ(as_ulong(accumulator.to_f64()), as_ulong(sum.to_f64())) << range;
  }
}

TEST(Exact, BinsLoseNothingHoweverManyFloats) {
  // The largest floats of a bin, all of one sign, beside its smallest: without carrying, 2^54
  // units.
  for (int bin : {0, 7, 15}) {
    double bins[2 * BINS] = {};
    ExactSum sum;
    for (uint i = 0; i < 5 * BIN_ADDITIONS; ++i) {
      const uint exponent = std::min(254u, uint(bin) * BIN_EXPONENTS + (i % 9 ? 15 : 0));
      const uint bits =
          exponent << 23 | (i % 9 ? 0x7fffffu : i & 0x7fffffu) | (bin == 7 ? 1u << 31 : 0u);
      ASSERT_EQ(bin_of(bits), bin);
      if (i % BIN_ADDITIONS == 0) bins_carry(bins, 2);
      bins[2 * bin_of(bits)] += double(std::bit_cast<float>(bits));
      sum.add(double(std::bit_cast<float>(bits)));
    }
    for (int b = 0; b < BINS; ++b) sum.add(-bins[2 * b]);
    EXPECT_EQ(sum.to_f64(), 0.0) << bin;
  }
}

TEST(Exact, TiesGoToEvenUnlessSomethingLiesBelow) {
  struct {
    std::vector<double> values;
    double f64;
    float f32;
  } const cases[] = {
      {{1, 0x1p-53}, 1, 1},
      {{1, 0x1p-53, 0x1p-1074}, 1 + 0x1p-52, 1},
      {{1 + 0x1p-52, 0x1p-53}, 1 + 0x1p-51, 1},
      {{1, 0x1p-24}, 1 + 0x1p-24, 1},
      {{1, 0x1p-24, 0x1p-80}, 1 + 0x1p-24, 1 + 0x1p-23f},  // f64 first would round twice
      {{1, 0x1p-24, -0x1p-80}, 1 + 0x1p-24, 1},
      {{-1, -0x1p-24, -0x1p-80}, -1 - 0x1p-24, -1 - 0x1p-23f},
      {{0x1p-150}, 0x1p-150, 0},
      {{0x1p-150, 0x1p-200}, 0x1.0000000000004p-150, 0x1p-149f},
      {{0x1p-126, -0x1p-150}, 0x1p-126 - 0x1p-150, 0x1p-126f},
      {{0x1.fffffep127, 0x1p103}, 0x1.ffffffp127, INFINITY},
      {{0x1.fffffep127, 0x1p102}, 0x1.fffffe8p127, 0x1.fffffep127f},
      {{0x1.fffffffffffffp1023, 0x1p970}, INFINITY, INFINITY},
      {{0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023},
       0x1.fffffffffffffp1023,
       INFINITY},
      {{0x1p1023, -0x1p1023}, 0, 0},
  };
  for (const auto& c : cases) {
    Accumulator accumulator(-1074);
    for (double value : c.values) accumulator.add(value);
    EXPECT_EQ(as_ulong(accumulator.to_f64()), as_ulong(c.f64)) << c.values[0];
    EXPECT_EQ(std::bit_cast<uint>(accumulator.to_f32()), std::bit_cast<uint>(c.f32)) << c.values[0];
  }
}

TEST(Exact, WordsCarryAcrossHalvesAndSigns) {
  Accumulator accumulator(-1074);
  for (int i = 0; i < 100000; ++i) accumulator.add(i % 2 ? -0x1.fffffffffffffp10 : 0x1p31);
  ExactSum sum;
  for (int i = 0; i < 100000; ++i) sum.add(i % 2 ? -0x1.fffffffffffffp10 : 0x1p31);
  EXPECT_EQ(accumulator.to_f64(), sum.to_f64());
}

TEST(Exact, QuickRoundingIsRightOrRefuses) {
  std::mt19937_64 random(11);
  int taken = 0;
  for (int i = 0; i < 20000; ++i) {
    // Terms that overlap, cancel, sit on ties, or leave gaps.
    std::vector<double> terms = wide_values(4, i % 3 == 0 ? 60 : 4, uint64_t(i));
    for (double& term : terms)
      if (random() % 3 == 0) term = std::ldexp(random() % 2 ? 1.0 : -1.0, -int(random() % 120));
    for (size_t k = 2; k < 4; ++k)
      if (random() % 2) terms[k] = 0;
    if (random() % 5 == 0) terms[1] = -terms[0];
    ExactSum sum;
    for (double term : terms) sum.add(term);
    ulong bits;
    if (!round_quickly(terms[0], terms[1], terms[2], terms[3], true, &bits)) continue;
    ++taken;
    ASSERT_EQ(bits, as_ulong(sum.to_f64()));
    ASSERT_TRUE(round_quickly(terms[0], terms[1], terms[2], terms[3], false, &bits));
    ASSERT_EQ(uint(bits), std::bit_cast<uint>(sum.to_f32()));
  }
  EXPECT_GE(taken, 10000);
  ulong bits;
  EXPECT_FALSE(round_quickly(INFINITY, 1, 0, 0, true, &bits));
  EXPECT_FALSE(round_quickly(0x1p1023, 0x1p1023, 0, 0, true, &bits));
  EXPECT_FALSE(round_quickly(1, 0x1p-60, 0x1p-120, 0, true, &bits));
  EXPECT_FALSE(round_quickly(1.5, 0x1p-53, 0x1p-120, 0, true, &bits)) << "half way, and more";
  EXPECT_FALSE(round_quickly(1.5, 0x1p-53, -0x1p-120, 0, true, &bits)) << "half way, and less";
  EXPECT_TRUE(round_quickly(1.5, 0x1.8p-54, 0x1p-120, 0, true, &bits)) << "whatever lies below";
  EXPECT_EQ(bits, as_ulong(1.5));
  EXPECT_TRUE(round_quickly(0x1p127, 0x1p127, 0, 0, false, &bits));
  EXPECT_EQ(bits, 0x7f800000u);
}

TEST(Exact, QuickRoundingTakesMoreThanTwoDoubles) {
  std::mt19937_64 random(13);
  int taken = 0;
  for (int i = 0; i < 20000; ++i) {
    double terms[4];
    for (int k = 0; k < 4; ++k)
      terms[k] = std::ldexp(double(int64_t(random()) >> 12), -50 * k - int(random() % 3));
    ExactSum sum;
    for (double term : terms) sum.add(term);
    for (bool f64 : {true, false}) {
      ulong bits;
      if (!round_quickly(terms[0], terms[1], terms[2], terms[3], f64, &bits)) continue;
      ++taken;
      ASSERT_EQ(bits, f64 ? as_ulong(sum.to_f64()) : std::bit_cast<uint>(sum.to_f32()));
    }
  }
  EXPECT_GE(taken, 39000);
}

TEST(Exact, SpecialValuesFollowTheFlags) {
  const uint other = FLAG_NOT_MINUS_ZERO;
  const auto f64 = [](uint flags) { return as_double(result_bits(0, false, flags, true)); };
  EXPECT_TRUE(std::isnan(f64(other | FLAG_NAN)));
  EXPECT_TRUE(std::isnan(f64(other | FLAG_PLUS_INFINITY | FLAG_MINUS_INFINITY)));
  EXPECT_EQ(f64(other | FLAG_PLUS_INFINITY), INFINITY);
  EXPECT_EQ(f64(other | FLAG_MINUS_INFINITY), -INFINITY);
  EXPECT_EQ(as_ulong(f64(other)), as_ulong(0.0));
  EXPECT_EQ(as_ulong(f64(0)), as_ulong(-0.0));
  const auto f32 = [](uint flags) {
    return std::bit_cast<float>(uint(result_bits(0, false, flags, false)));
  };
  EXPECT_TRUE(std::isnan(f32(other | FLAG_NAN)));
  EXPECT_EQ(f32(other | FLAG_MINUS_INFINITY), -INFINITY);
  EXPECT_EQ(std::bit_cast<uint>(f32(0)), 0x80000000u);
}

}  // namespace
