// The exact sum against MPFR on every value class, and its special cases one by one.
#include "oracle/exact_sum.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "mpfr_sum.hpp"
#include "oracle/values.hpp"

namespace trine::oracle {
namespace {

template <class T>
uint64_t bits(T x) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<uint32_t>(x);
  else
    return std::bit_cast<uint64_t>(x);
}

template <class T>
void compare_with_mpfr(Values values, int64_t count, uint64_t seed, uint32_t dtype) {
  std::vector<T> x(static_cast<size_t>(count)), y(x);
  fill_line({values, seed}, dtype, count, x.data());
  fill_line({values, ~seed}, dtype, count, y.data());
  ExactSum sum, squares, products;
  MpfrSum mpfr_sum, mpfr_squares, mpfr_products;
  for (size_t i = 0; i < x.size(); ++i) {
    sum.add(x[i]), squares.add_product(x[i], x[i]), products.add_product(x[i], y[i]);
    mpfr_sum.add(double(x[i])), mpfr_squares.add_product(double(x[i]), double(x[i]));
    mpfr_products.add_product(double(x[i]), double(y[i]));
  }
  SCOPED_TRACE(testing::Message() << name_of(values) << " n " << count << " seed " << seed);
  if (mpfr_sum.to_f64() != 0) {  // signs of zeros are the design's business, tested below
    EXPECT_EQ(bits(sum.to_f32()), bits(mpfr_sum.to_f32()));
    EXPECT_EQ(bits(sum.to_f64()), bits(mpfr_sum.to_f64()));
  } else {
    EXPECT_EQ(sum.to_f64(), 0.0);
  }
  EXPECT_EQ(bits(squares.to_f32()), bits(mpfr_squares.to_f32()));
  EXPECT_EQ(bits(squares.to_f64()), bits(mpfr_squares.to_f64()));
  EXPECT_EQ(products.to_f32(), mpfr_products.to_f32());
  EXPECT_EQ(products.to_f64(), mpfr_products.to_f64());
}

TEST(exact_sum, equals_mpfr_on_every_class_of_finite_values) {
  for (Values values : all_values()) {
    if (values == Values::kNan || values == Values::kInfinity || values == Values::kInfinities)
      continue;
    for (int64_t count : {1, 2, 3, 7, 100, 1001})
      for (uint64_t seed = 1; seed <= 8; ++seed) {
        compare_with_mpfr<float>(values, count, seed, TRINE_F32);
        compare_with_mpfr<double>(values, count, seed, TRINE_F64);
      }
  }
}

template <class T>
T sum_of(std::initializer_list<T> values) {
  ExactSum sum;
  for (T v : values) sum.add(v);
  if constexpr (sizeof(T) == 4)
    return sum.to_f32();
  else
    return sum.to_f64();
}

TEST(exact_sum, rounds_ties_to_even_and_sees_a_hair_beside_them) {
  const double half = 0x1p-53, hair = 0x1p-1074;
  EXPECT_EQ(sum_of({1.0, half}), 1.0);
  EXPECT_EQ(sum_of({1.0, half, hair}), 1.0 + 0x1p-52);
  EXPECT_EQ(sum_of({1.0 + 0x1p-52, half}), 1.0 + 0x1p-51);
  EXPECT_EQ(sum_of({1.0 + 0x1p-52, half, -hair}), 1.0 + 0x1p-52);
  EXPECT_EQ(sum_of({0x1.fffffffffffffp1023, 0x1p970}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(sum_of({0x1.fffffffffffffp1023, 0x1p970, -hair}), 0x1.fffffffffffffp1023);
  EXPECT_EQ(sum_of({-0x1.fffffep127f, -0x1p103f}), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(sum_of({0x1.fffffep127f, 0x1.fffffep127f, -0x1.fffffep127f}), 0x1.fffffep127f);
}

TEST(exact_sum, gives_zero_its_sign) {
  EXPECT_EQ(bits(sum_of<double>({})), bits(0.0));
  EXPECT_EQ(bits(sum_of({-0.0, -0.0})), bits(-0.0));
  EXPECT_EQ(bits(sum_of({-0.0, 0.0})), bits(0.0));
  EXPECT_EQ(bits(sum_of({1.0, -1.0, -0.0})), bits(0.0));
  EXPECT_EQ(bits(sum_of({-0.0f})), bits(-0.0f));
  ExactSum square, product;
  square.add_product(-0.0, -0.0);
  EXPECT_EQ(bits(square.to_f64()), bits(0.0));
  product.add_product(-0.0, 3.0);
  product.add_product(0.0, -1.0);
  EXPECT_EQ(bits(product.to_f64()), bits(-0.0));
  product.add_product(-0.0, -3.0);
  EXPECT_EQ(bits(product.to_f64()), bits(0.0));
}

TEST(exact_sum, lets_nan_and_infinities_win) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sum_of({1.0, infinity, infinity}), infinity);
  EXPECT_EQ(sum_of({-infinity, 1e308, 1e308}), -infinity);
  EXPECT_TRUE(std::isnan(sum_of({infinity, -infinity})));
  EXPECT_TRUE(std::isnan(sum_of({infinity, nan})));
  EXPECT_TRUE(std::isnan(sum_of({std::numeric_limits<double>::signaling_NaN(), 1.0})));
}

double dot_of(std::initializer_list<std::pair<double, double>> pairs) {
  ExactSum sum;
  for (const auto& [x, y] : pairs) sum.add_product(x, y);
  return sum.to_f64();
}

TEST(exact_sum, multiplies_infinities_and_nan_as_ieee_does) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(dot_of({{infinity, 2.0}, {1.0, 1.0}}), infinity);
  EXPECT_EQ(dot_of({{-infinity, 0x1p-1074}}), -infinity);
  EXPECT_EQ(dot_of({{-infinity, -infinity}, {infinity, 1.0}}), infinity);
  EXPECT_TRUE(std::isnan(dot_of({{infinity, 1.0}, {infinity, -1.0}})));
  EXPECT_TRUE(std::isnan(dot_of({{infinity, 0.0}})));
  EXPECT_TRUE(std::isnan(dot_of({{-0.0, -infinity}})));
  EXPECT_TRUE(std::isnan(dot_of({{nan, 0.0}, {1.0, 1.0}})));
  EXPECT_TRUE(std::isnan(dot_of({{1.0, nan}, {infinity, 1.0}})));
}

TEST(exact_sum, products_cancel_beyond_the_range) {
  const double huge = 0x1p1000, tiny = 0x1p-1000;
  EXPECT_EQ(dot_of({{huge, huge}, {-huge, huge}, {3.0, 5.0}}), 15.0);
  EXPECT_EQ(dot_of({{tiny, tiny}, {1.0, 1.0}, {tiny, -tiny}, {-1.0, 1.0}, {1.0, 0x1p-60}}),
            0x1p-60);
  EXPECT_EQ(dot_of({{huge, -huge}}), -std::numeric_limits<double>::infinity());
}

TEST(exact_sum, squares_reach_both_ends) {
  ExactSum high, low;
  high.add_product(1e300, 1e300);
  EXPECT_EQ(high.to_f64(), std::numeric_limits<double>::infinity());
  low.add_product(0x1p-1074, 0x1p-1074);
  EXPECT_EQ(bits(low.to_f64()), bits(0.0));
  ExactSum many;
  many.add_product(0x1p-538, 0x1p-538);  // 2^-1076, a quarter of the smallest denormal
  many.multiply(3);
  EXPECT_EQ(many.to_f64(), 0x1p-1074);
}

TEST(exact_sum, multiplies_and_merges_exactly) {
  std::vector<double> x(1000);
  fill_line({Values::kWide, 5}, TRINE_F64, 1000, x.data());
  ExactSum repeated, once, merged, half;
  for (int r = 0; r < 7; ++r)
    for (double v : x) repeated.add(v);
  for (double v : x) once.add(v);
  once.multiply(7);
  EXPECT_EQ(bits(once.to_f64()), bits(repeated.to_f64()));
  for (size_t i = 0; i < x.size(); ++i) (i % 3 == 0 ? merged : half).add(x[i]);
  merged.merge(half);
  merged.multiply(7);
  EXPECT_EQ(bits(merged.to_f64()), bits(repeated.to_f64()));
}

// Random reductions found it: an infinity's mantissa is zero as well.
TEST(ExactSum, AnInfinityIsNoMinusZero) {
  for (double value : {-std::numeric_limits<double>::infinity(), -0.0}) {
    ExactSum sum;
    sum.add(value);
    uint64_t state[TRINE_EXACT_WORDS];
    sum.state(state);
    EXPECT_EQ((state[0] & TRINE_EXACT_NOT_MINUS_ZERO) != 0, std::isinf(value)) << value;
  }
}

}  // namespace
}  // namespace trine::oracle
