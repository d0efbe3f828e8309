// The reduce reference on inputs that a reader can check by hand, and strided against dense.
#include "oracle/reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <limits>

#include "oracle/bits.hpp"
#include "oracle/operation.hpp"

namespace trine::oracle {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Reduces a row; the result as its type.
template <class Result, class T>
Result reduced(uint32_t function, uint32_t map, uint32_t dtype, std::vector<T> x) {
  Operation op = plan_reduce(function, map, TRINE_ALL, dtype, 1, int64_t(x.size()));
  auto& r = std::get<trine_reduce>(op);
  EXPECT_EQ(trine_dtype_size(r.result_dtype), sizeof(Result));
  Result result{};
  r.input.memory = x.data(), r.output.memory = &result;
  reference(r);
  return result;
}
double f64(uint32_t function, std::vector<double> x, uint32_t map = TRINE_IDENTITY) {
  return reduced<double>(function, map, TRINE_F64, std::move(x));
}
int64_t arg(uint32_t function, std::vector<double> x, uint32_t map = TRINE_IDENTITY) {
  return reduced<int64_t>(function, map, TRINE_F64, std::move(x));
}
bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

TEST(reduce_reference, empty_input_gives_the_neutral_element) {
  EXPECT_TRUE(same_bits(f64(TRINE_SUM, {}), 0.0));
  EXPECT_EQ(f64(TRINE_PROD, {}), 1.0);
  EXPECT_EQ(f64(TRINE_MIN, {}), kInf);
  EXPECT_EQ(f64(TRINE_MAX, {}), -kInf);
  EXPECT_EQ(f64(TRINE_MAX, {}, TRINE_ABS), -kInf);
  EXPECT_EQ(arg(TRINE_ARGMIN, {}), -1);
  using I = std::vector<int32_t>;
  EXPECT_EQ(reduced<int32_t>(TRINE_MIN, TRINE_IDENTITY, TRINE_I32, I{}), INT32_MAX);
  EXPECT_EQ(reduced<int32_t>(TRINE_MAX, TRINE_IDENTITY, TRINE_I32, I{}), INT32_MIN);
  EXPECT_EQ(reduced<uint32_t>(TRINE_MIN, TRINE_ABS, TRINE_I32, I{}), UINT32_MAX);
  EXPECT_EQ(reduced<uint32_t>(TRINE_MAX, TRINE_ABS, TRINE_I32, I{}), 0u);
  EXPECT_EQ(reduced<int64_t>(TRINE_PROD, TRINE_IDENTITY, TRINE_I32, I{}), 1);
}

TEST(reduce_reference, extremes_follow_the_total_order) {
  EXPECT_TRUE(same_bits(f64(TRINE_MIN, {0.0, -0.0, 0.0}), -0.0));
  EXPECT_TRUE(same_bits(f64(TRINE_MAX, {-0.0, 0.0, -0.0}), 0.0));
  EXPECT_EQ(arg(TRINE_ARGMIN, {0.0, -0.0, -0.0}), 1);
  EXPECT_EQ(arg(TRINE_ARGMIN, {0.0, -0.0, -0.0}, TRINE_ABS), 0);
  EXPECT_EQ(arg(TRINE_ARGMAX, {-0.0, 0.0, 0.0}), 1);
  EXPECT_EQ(arg(TRINE_ARGMAX, {1, 3, 3, 2}), 1);
  EXPECT_EQ(arg(TRINE_ARGMAX, {-4, 3, 4}, TRINE_ABS), 0);
  EXPECT_EQ(f64(TRINE_MIN, {-4, 3, 4}, TRINE_ABS), 3);
}

TEST(reduce_reference, nan_wins_and_the_first_is_found) {
  EXPECT_TRUE(std::isnan(f64(TRINE_MIN, {1, kNan, -kInf})));
  EXPECT_TRUE(std::isnan(f64(TRINE_MAX, {kNan, kInf})));
  EXPECT_EQ(arg(TRINE_ARGMIN, {-kInf, 5, kNan, kNan}), 2);
  EXPECT_EQ(arg(TRINE_ARGMAX, {kNan, kInf, kNan}), 0);
}

TEST(reduce_reference, products_use_the_fixed_tree) {
  const double x[] = {1.1, 1.3, 1.7, 1.9, 2.3, 2.9, 3.1};
  EXPECT_TRUE(same_bits(f64(TRINE_PROD, {x, x + 7}),
                        ((x[0] * x[1]) * (x[2] * x[3])) * ((x[4] * x[5]) * x[6])));
  EXPECT_TRUE(same_bits(f64(TRINE_PROD, {x, x + 5}), ((x[0] * x[1]) * (x[2] * x[3])) * x[4]));
  EXPECT_EQ(f64(TRINE_PROD, {1e200, 1e-200, 1e200, 1e200}), kInf);
}

TEST(reduce_reference, integers_are_64_bits_wide_and_wrap) {
  using I = std::vector<int32_t>;
  EXPECT_EQ(reduced<int64_t>(TRINE_SUM, TRINE_ABS, TRINE_I32, I{INT32_MIN, INT32_MIN}),
            int64_t{1} << 32);
  EXPECT_EQ(reduced<int64_t>(TRINE_SUM, TRINE_SQUARE, TRINE_I32, I{INT32_MIN, 1}),
            (int64_t{1} << 62) + 1);
  EXPECT_EQ(reduced<uint32_t>(TRINE_MAX, TRINE_ABS, TRINE_I32, I{INT32_MIN, INT32_MAX}), 1u << 31);
  EXPECT_EQ(reduced<int64_t>(TRINE_PROD, TRINE_IDENTITY, TRINE_I32, I{-3, INT32_MAX}),
            -3 * int64_t{INT32_MAX});
  using L = std::vector<int64_t>;
  EXPECT_EQ(reduced<int64_t>(TRINE_SUM, TRINE_IDENTITY, TRINE_I64, L{INT64_MAX, 1}), INT64_MIN);
  EXPECT_EQ(reduced<int64_t>(TRINE_SUM, TRINE_ABS, TRINE_I64, L{INT64_MIN}), INT64_MIN);
  EXPECT_EQ(reduced<int64_t>(TRINE_ARGMAX, TRINE_ABS, TRINE_I64, L{INT64_MAX, INT64_MIN}), 1);
  using U = std::vector<uint64_t>;
  EXPECT_EQ(reduced<uint64_t>(TRINE_SUM, TRINE_IDENTITY, TRINE_U64, U{UINT64_MAX, 3}), 2u);
  EXPECT_EQ(reduced<int64_t>(TRINE_ARGMIN, TRINE_IDENTITY, TRINE_U64, U{UINT64_MAX, 3, 3}), 1);
}

TEST(reduce_reference, a_float_sum_may_ask_for_f64) {
  Operation op = plan_reduce(TRINE_SUM, TRINE_SQUARE, TRINE_ALL, TRINE_F32, 1, 2);
  auto& r = std::get<trine_reduce>(op);
  r.result_dtype = TRINE_F64;
  float x[2] = {1 + 0x1p-20f, 0x1p-140f};
  double result = 0;
  r.input.memory = x, r.output.memory = &result;
  reference(r);
  EXPECT_EQ(result, double(x[0]) * x[0]);
}

/// Row-major, column-major and padded layouts of the same matrix must agree, on every axis.
TEST(reduce_reference, strides_change_nothing) {
  for (uint32_t axis : {TRINE_ALL, TRINE_EACH_ROW, TRINE_EACH_COLUMN})
    for (uint32_t function : {TRINE_SUM, TRINE_PROD, TRINE_MAX, TRINE_ARGMIN})
      for (uint32_t dtype : {TRINE_F32, TRINE_F64, TRINE_I64}) {
        const Operation plan = plan_reduce(function, TRINE_IDENTITY, axis, dtype, 13, 29);
        Operation other = plan;
        auto& r = std::get<trine_reduce>(other);
        r.input.row_stride = 2, r.input.col_stride = 27;
        r.output.row_stride = 3;
        HostOperation dense(plan), strided(other);
        const Values values = dtype == TRINE_I64 ? Values::kSmall : Values::kNearOne;
        fill(dense.op, values, 11), fill(strided.op, values, 11);
        reference(dense.op), reference(strided.op);
        const Difference d = compare(std::get<trine_reduce>(plan).result_dtype,
                                     output_of(dense.op).view[0], output_of(strided.op).view[0]);
        EXPECT_EQ(d.compared, result_count(axis, 13, 29));
        EXPECT_TRUE(d.none()) << title(plan) << ": " << d.sentence();
      }
}

/// A result costs about what its elements cost: here a million have four each. In seconds of CPU
/// time, which other programs don't lengthen; system calls for each result took 14 of them.
TEST(reduce_reference, many_small_results_take_seconds) {
  const auto cpu_seconds = [] { return double(std::clock()) / CLOCKS_PER_SEC; };
  for (uint32_t function : {TRINE_SUM, TRINE_PROD, TRINE_ARGMIN}) {
    HostOperation rows(
        plan_reduce(function, TRINE_IDENTITY, TRINE_EACH_ROW, TRINE_F32, 1 << 20, 4));
    fill(rows.op, Values::kUniform, 7);
    const double begin = cpu_seconds();
    reference(rows.op);
    EXPECT_LT(cpu_seconds() - begin, 4) << function;
  }
}

TEST(reduce_reference, broadcast_views_count_every_element) {
  float x[3] = {1, 2, 0x1p-30f};
  double result = 0;
  Operation op = plan_reduce(TRINE_SUM, TRINE_IDENTITY, TRINE_ALL, TRINE_F32, int64_t{1} << 31, 3);
  auto& r = std::get<trine_reduce>(op);
  r.result_dtype = TRINE_F64;
  r.input.row_stride = 0;
  r.input.memory = x, r.output.memory = &result;
  reference(r);
  EXPECT_EQ(result, 0x1p31 * 3 + 2);
}

TEST(reduce_reference, the_index_of_a_repeated_column_counts_repetitions) {
  int32_t x[3] = {5, 5, 9};
  int64_t result = 0;
  Operation op =
      plan_reduce(TRINE_ARGMAX, TRINE_IDENTITY, TRINE_ALL, TRINE_I32, 3, int64_t{1} << 31);
  auto& r = std::get<trine_reduce>(op);
  r.input.row_stride = 1, r.input.col_stride = 0;
  r.input.memory = x, r.output.memory = &result;
  reference(r);
  EXPECT_EQ(result, int64_t{1} << 32);
}

TEST(reduce_bounds, hold_for_a_plain_loop_and_reject_a_wrong_sum) {
  HostOperation host(plan_reduce(TRINE_SUM, TRINE_IDENTITY, TRINE_ALL, TRINE_F32, 100, 100));
  fill(host.op, Values::kUniform, 2);
  reference(host.op);
  const auto& r = std::get<trine_reduce>(host.op);
  float sum = 0;
  for (int i = 0; i < 10000; ++i) sum += static_cast<const float*>(r.input.memory)[i];
  trine_view got = r.output;
  got.memory = &sum;
  EXPECT_TRUE(check(host.op, got, TRINE_STUDY).none());
  EXPECT_FALSE(check(host.op, got, TRINE_REPRODUCIBLE).none());
  sum += 10;
  EXPECT_FALSE(check(host.op, got, TRINE_STUDY).none());
  sum = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(check(host.op, got, TRINE_STUDY).none());
}

}  // namespace
}  // namespace trine::oracle
