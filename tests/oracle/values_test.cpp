// Value classes do what their names say, the same whatever the layout; digests and comparisons see
// what they must and nothing else.
#include "oracle/values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "oracle/bits.hpp"
#include "oracle/operation.hpp"

namespace trine::oracle {
namespace {

template <class T>
std::vector<T> line(Values values, int64_t count, uint64_t seed = 1) {
  std::vector<T> x(static_cast<size_t>(count));
  fill_line({values, seed}, sizeof(T) == 4 ? TRINE_F32 : TRINE_F64, count, x.data());
  return x;
}

template <class T>
void expect_magnitudes(Values values, double low, double high) {
  for (T x : line<T>(values, 10000)) {
    ASSERT_GE(std::fabs(double(x)), low) << name_of(values);
    ASSERT_LE(std::fabs(double(x)), high) << name_of(values);
  }
}

TEST(values, stay_in_their_ranges) {
  expect_magnitudes<float>(Values::kUniform, 0x1p-32, 1);
  expect_magnitudes<double>(Values::kUniform, 0x1p-32, 1);
  expect_magnitudes<float>(Values::kWide, 0x1p-120, 0x1p120);
  expect_magnitudes<double>(Values::kWide, 0x1p-900, 0x1p900);
  expect_magnitudes<float>(Values::kDenormal, 0, 0x1p-126);
  expect_magnitudes<double>(Values::kDenormal, 0, 0x1p-1022);
  expect_magnitudes<float>(Values::kSmall, 0, 8);
  expect_magnitudes<float>(Values::kNearOne, 1 - 0x1p-10, 1 + 0x1p-10);
}

TEST(values, uniform_uses_all_of_its_mantissa_and_both_signs) {
  uint32_t ones = 0, zeros = 0;
  int negative = 0;
  double sum = 0;
  for (float x : line<float>(Values::kUniform, 100000)) {
    ones |= std::bit_cast<uint32_t>(x), zeros |= ~std::bit_cast<uint32_t>(x);
    negative += x < 0;
    sum += std::fabs(x);
  }
  EXPECT_EQ(ones & zeros & 0x7fffffu, 0x7fffffu);
  EXPECT_NEAR(negative, 50000, 1000);
  EXPECT_NEAR(sum / 100000, 0.5, 0.01);
}

TEST(values, special_classes_hold_what_they_promise) {
  const auto count = [](const std::vector<double>& x, auto is) {
    return std::count_if(x.begin(), x.end(), is);
  };
  const auto is_nan = [](double x) { return std::isnan(x); };
  for (int64_t n : {1, 2, 5, 1000}) {
    EXPECT_GE(count(line<double>(Values::kNan, n), is_nan), 1) << n;
    EXPECT_LE(count(line<double>(Values::kNan, n), is_nan), 2) << n;
  }
  const auto both = line<double>(Values::kInfinities, 1000);
  EXPECT_EQ(count(both, [](double x) { return x == HUGE_VAL; }), 1);
  EXPECT_EQ(count(both, [](double x) { return x == -HUGE_VAL; }), 1);
  const auto zeros = line<double>(Values::kZeros, 1000);
  EXPECT_GT(count(zeros, [](double x) { return std::signbit(x); }), 400);
  EXPECT_EQ(count(zeros, [](double x) { return x == 0; }), 1000);
}

TEST(values, cancelling_lines_sum_to_nearly_nothing_on_their_axis) {
  for (uint32_t axis : {TRINE_ALL, TRINE_EACH_ROW, TRINE_EACH_COLUMN}) {
    HostOperation host(plan_reduce(TRINE_SUM, TRINE_IDENTITY, axis, TRINE_F64, 31, 45));
    for (Values values : {Values::kCancelHuge, Values::kCancelModerate, Values::kCancelSlowly,
                          Values::kCancelByTurns}) {
      fill(host.op, values, 3);
      reference(host.op);
      const auto& r = std::get<trine_reduce>(host.op);
      for (int64_t i = 0; i < r.output.rows; ++i)
        EXPECT_LE(std::fabs(static_cast<const double*>(r.output.memory)[i]), 0x1p-1072) << axis;
    }
  }
}

TEST(values, do_not_depend_on_layout) {
  std::vector<Values> classes(all_values().begin(), all_values().end());
  classes.insert(classes.end(), product_values().begin(), product_values().end());
  for (Values values : classes)
    for (uint32_t dtype : {TRINE_F32, TRINE_F64, TRINE_I32, TRINE_U64, TRINE_B8, TRINE_B128}) {
      if (!suits(values, dtype)) continue;
      const size_t size = trine_dtype_size(dtype);
      std::vector<char> dense(300 * 7 * size), padded(9 * 301 * size);
      trine_view a = dense_rows(7, 300), b = dense_columns(7, 300);
      b.col_stride = 9;
      a.memory = dense.data(), b.memory = padded.data();
      fill({values, 9, TRINE_EACH_ROW}, dtype, a);
      fill({values, 9, TRINE_EACH_ROW}, dtype, b);
      const Difference d = compare(dtype, a, b);
      EXPECT_TRUE(d.none()) << name_of(values) << " " << dtype_name(dtype) << ": " << d.sentence();
      EXPECT_EQ(digest(dtype, a), digest(dtype, b));
    }
}

/// A vector may lie along rows or columns, and is filled in blocks either way.
TEST(values, do_not_depend_on_the_shape_of_a_vector) {
  constexpr int64_t kSize = 300007;
  std::vector<float> row(kSize), column(kSize), gaps(2 * kSize);
  trine_view a = dense_rows(1, kSize), b = dense_rows(kSize, 1), c = b;
  a.memory = row.data(), b.memory = column.data(), c.memory = gaps.data();
  c.row_stride = 2;
  for (const trine_view& v : {a, b, c}) fill({Values::kUniform, 4}, TRINE_F32, v);
  EXPECT_EQ(row, column);
  for (size_t i = 0; i < row.size(); ++i) ASSERT_EQ(row[i], gaps[2 * i]) << i;
}

/// The results of an exact product of T by T, and of one whose sums are f64 and are rounded again.
template <class T>
struct Products {
  std::vector<T> once;
  std::vector<double> sums;
};
template <class T>
Products<T> products_of(Values values, int64_t k) {
  constexpr int64_t kSide = 24;
  Operation plan = plan_gemm(sizeof(T) == 4 ? TRINE_F32 : TRINE_F64, kSide, kSide, k);
  std::get<trine_gemm>(plan).numerics = TRINE_EXACT;
  HostOperation host(plan);
  fill(host.op, values, 3);
  const auto& g = std::get<trine_gemm>(host.op);
  Products<T> found;
  const T *a = static_cast<const T*>(g.a.memory), *b = static_cast<const T*>(g.b.memory);
  for (int64_t e = 0; e < kSide * kSide; ++e) {
    double sum = 0;
    for (int64_t p = 0; p < k; ++p)
      sum = std::fma(double(a[e / kSide * k + p]), double(b[p * kSide + e % kSide]), sum);
    found.sums.push_back(sum);
  }
  reference(host.op);
  const T* c = static_cast<const T*>(g.c.memory);
  found.once.assign(c, c + kSide * kSide);
  return found;
}

template <class T>
void expect_hard_products() {
  const auto count = [](const Products<T>& p, auto is) {
    int64_t many = 0;
    for (size_t e = 0; e < p.once.size(); ++e) many += is(p.once[e], p.sums[e]) ? 1 : 0;
    return many;
  };
  const auto is_wrong = [](T once, double sum) { return once != T(sum); };
  for (const int64_t k : {30, 41}) {
    const Products<T> ties = products_of<T>(Values::kProductTies, k);
    const Products<T> mirrored = products_of<T>(Values::kMirrored, k);
    const Products<T> brink = products_of<T>(Values::kBrink, k);
    EXPECT_GT(count(ties, is_wrong), 5);
    EXPECT_GT(count(mirrored, is_wrong), 50);
    EXPECT_GT(count(mirrored, [](T once, double) { return once == 0; }), 200);
    EXPECT_GT(count(brink, [](T once, double) { return std::isinf(once); }), 50);
    EXPECT_GT(count(brink, [](T x, double) { return !std::isinf(x) && std::abs(x) > 1; }), 50);
    const Products<T> inverse = products_of<T>(Values::kInverse, k);
    for (size_t e = 0; e < inverse.once.size(); ++e)
      EXPECT_EQ(inverse.once[e], e / 24 == e % 24 ? 1 : 0) << e;
    EXPECT_GT(count(products_of<T>(Values::kLoneHuge, k), is_wrong), sizeof(T) == 4 ? -1 : 0);
    EXPECT_EQ(count(products_of<T>(Values::kGraded, k), [](T x, double) { return x != x; }), 0);
    EXPECT_GT(count(products_of<T>(Values::kDrift, 10 * k), is_wrong), 300);
  }
}

TEST(values, for_products_are_hard_for_f32) { expect_hard_products<float>(); }
TEST(values, for_products_are_hard_for_f64) { expect_hard_products<double>(); }

TEST(values, an_unknown_name_is_answered_with_the_list) {
  EXPECT_EQ(values_named("cancel_huge"), Values::kCancelHuge);
  for (const std::span<const Values> values : {all_values(), product_values()})
    for (Values v : values) EXPECT_EQ(values_named(name_of(v)), v);
  try {
    values_named("uniformly");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("near_one"), std::string::npos);
  }
}

TEST(digest, sees_values_and_positions_and_one_nan) {
  float x[4] = {1, 2, 3, 4}, y[4] = {2, 1, 3, 4};
  trine_view vx = dense_rows(1, 4), vy = vx;
  vx.memory = x, vy.memory = y;
  EXPECT_NE(digest(TRINE_F32, vx), digest(TRINE_F32, vy));
  x[0] = std::bit_cast<float>(0x7fc00000), y[0] = std::bit_cast<float>(0xff800001);
  y[1] = 2;
  EXPECT_EQ(digest(TRINE_F32, vx), digest(TRINE_F32, vy));
  EXPECT_NE(digest(TRINE_B32, vx), digest(TRINE_B32, vy));
  x[3] = 0, y[3] = -0.0f;
  EXPECT_NE(digest(TRINE_F32, vx), digest(TRINE_F32, vy));
}

TEST(compare, names_the_first_difference_and_treats_nan_as_one) {
  double x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {1, 2, 3, 4, 0, -6};
  trine_view vx = dense_rows(2, 3), vy = vx;
  vx.memory = x, vy.memory = y;
  Difference d = compare(TRINE_F64, vx, vy);
  EXPECT_EQ(d.wrong, 2);
  EXPECT_EQ(d.row, 1);
  EXPECT_EQ(d.col, 1);
  x[4] = x[5] = -std::numeric_limits<double>::quiet_NaN();
  y[4] = y[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(compare(TRINE_F64, vx, vy).none());
  EXPECT_FALSE(compare(TRINE_B64, vx, vy).none());
}

TEST(compare, a_nan_passes_no_bound) {
  double x[1] = {1}, y[1] = {std::numeric_limits<double>::quiet_NaN()};
  trine_view vx = dense_rows(1, 1), vy = vx;
  vx.memory = x, vy.memory = y;
  const double bounds[] = {1e300};
  EXPECT_FALSE(compare_within(TRINE_F64, vx, vy, bounds).none());
  EXPECT_FALSE(compare_within(TRINE_F64, vy, vx, bounds).none());
  y[0] = 1.5;
  EXPECT_TRUE(compare_within(TRINE_F64, vx, vy, bounds).none());
}

}  // namespace
}  // namespace trine::oracle
