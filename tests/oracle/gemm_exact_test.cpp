// The exact gemm of the oracle against the real numbers in MPFR, and its rules for ties, zeros,
// infinities, NaN, and the ends of the range.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "gemm_reference.hpp"
#include "mpfr_sum.hpp"

namespace trine::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

trine_gemm planned(uint32_t dtype, int64_t m, int64_t n, int64_t k, double alpha, double beta) {
  auto g = std::get<trine_gemm>(plan_gemm(dtype, m, n, k, alpha, beta));
  g.numerics = TRINE_EXACT;
  return g;
}

template <class T>
T by_mpfr(const trine_gemm& g, int64_t i, int64_t j) {
  const auto alpha = T(scalar_value(g.dtype, g.alpha)), beta = T(scalar_value(g.dtype, g.beta));
  MpfrSum sum;
  for (int64_t p = 0; p < g.a.cols && alpha != 0; ++p)
    sum.add_product(double(at<T>(g.a, i, p)), double(at<T>(g.b, p, j)));
  if (g.a.cols != 0 && alpha != 0) sum.multiply(double(alpha));
  if (beta != 0) sum.add_product(double(beta), double(at<T>(g.c, i, j)));
  if (sum.is_zero()) return T(0);
  if constexpr (sizeof(T) == 4)
    return sum.to_f32();
  else
    return sum.to_f64();
}

template <class T>
void compare_with_mpfr(trine_gemm plan, Values values, uint64_t seed) {
  HostOperation host{Operation(plan)};
  SCOPED_TRACE(title(host.op) + " " + name_of(values));
  fill(host.op, values, seed);
  const trine_gemm g = std::get<trine_gemm>(host.op);
  compare_references<T>(host, seed, [&](int64_t i, int64_t j) { return by_mpfr<T>(g, i, j); });
}

/// Any of a dtype's values may be a scalar: powers of two, others, those at the ends, no numbers.
template <class T>
void compare_scalars_with_mpfr(uint32_t dtype) {
  using L = std::numeric_limits<T>;
  const double least = L::denorm_min(), most = L::max(), third = T(1) / T(3);
  const double scalars[][2] = {{1, 0},        {-0.75, 1.25},  {third, -third},    {0, 0.1},
                               {3, -0.0},     {least, 1},     {1, 5 * least},     {most, -most},
                               {least, most}, {kInfinity, 1}, {-1, -kInfinity},   {kNan, 1},
                               {1, kNan},     {0, kNan},      {kInfinity, -most}, {-third, 0}};
  std::vector<Values> classes(all_values().begin(), all_values().end());
  classes.insert(classes.end(), product_values().begin(), product_values().end());
  for (Values values : classes) {
    uint64_t seed = 11;
    for (const auto& [alpha, beta] : scalars)
      compare_with_mpfr<T>(planned(dtype, 3, 7, 21, alpha, beta), values, ++seed);
    compare_with_mpfr<T>(planned(dtype, 2, 9, 300, 1, 0), values, 5);
    compare_with_mpfr<T>(planned(dtype, 4, 4, 1, third, third), values, 6);
  }
}

TEST(gemm_exact, equals_mpfr_in_f32) { compare_scalars_with_mpfr<float>(TRINE_F32); }
TEST(gemm_exact, equals_mpfr_in_f64) { compare_scalars_with_mpfr<double>(TRINE_F64); }

/// alpha * (x1 y1 + x2 y2 + …) + beta * c.
template <class T>
T result(std::initializer_list<std::pair<T, T>> terms, double alpha = 1, double beta = 0, T c = 7) {
  std::vector<T> x, y;
  for (const auto& [a, b] : terms) x.push_back(a), y.push_back(b);
  trine_gemm g =
      planned(sizeof(T) == 4 ? TRINE_F32 : TRINE_F64, 1, 1, int64_t(x.size()), alpha, beta);
  g.a.memory = x.data(), g.b.memory = y.data(), g.c.memory = &c;
  reference(g);
  return c;
}
float f32(std::initializer_list<std::pair<float, float>> terms, double alpha = 1, double beta = 0,
          float c = 7) {
  return result<float>(terms, alpha, beta, c);
}
double f64(std::initializer_list<std::pair<double, double>> terms, double alpha = 1,
           double beta = 0, double c = 7) {
  return result<double>(terms, alpha, beta, c);
}

TEST(gemm_exact, rounds_ties_to_even_and_sees_a_hair_beside_them) {
  EXPECT_EQ(f32({{1, 1}, {0x1p-12f, 0x1p-12f}}), 1);
  EXPECT_EQ(f32({{1, 1}, {0x1p-12f, 0x1p-12f}, {0x1p-149f, 0x1p-149f}}), 1 + 0x1p-23f);
  EXPECT_EQ(f32({{1 + 0x1p-23f, 1}, {0x1p-12f, 0x1p-12f}}), 1 + 0x1p-22f);
  EXPECT_EQ(f32({{1, 1}}, 1 + 0x1p-23, 0x1p-149, 0x1p-149f), 1 + 0x1p-23f);
  EXPECT_EQ(f32({{0x1p-12f, 0x1p-12f}}, 1, 1, 1 + 0x1p-23f), 1 + 0x1p-22f);
  EXPECT_EQ(f32({{0x1p-12f, 0x1p-12f}}, 1 - 0x1p-24, 1, 1 + 0x1p-23f), 1 + 0x1p-23f);
  EXPECT_EQ(f64({{1, 1}, {0x1p-53, 1}, {0x1p-1074, -0x1p-1074}}, 0x1p-1074, 1, 1.5), 1.5);
  EXPECT_EQ(f64({{1, 1}, {0x1p-1074, 0x1p-1074}}, 0x1p-53, 1, 1), 1 + 0x1p-52);
}

TEST(gemm_exact, an_exact_zero_is_plus_zero_and_an_underflow_keeps_its_sign) {
  const auto is = [](auto value, bool negative) {
    return value == 0 && std::signbit(value) == negative;
  };
  EXPECT_TRUE(is(f32({{3, 5}, {-3, 5}}, -1), false));
  EXPECT_TRUE(is(f32({{-0.0f, 5}, {-0.0f, 5}}), false));
  EXPECT_TRUE(is(f32({}, 1, 1, -0.0f), false));
  EXPECT_TRUE(is(f32({{1, 1}}, 0, -1, 0.0f), false));
  EXPECT_TRUE(is(f32({{2, 3}}, 1, -2, 3), false));
  EXPECT_TRUE(is(f32({{-0x1p-80f, 0x1p-80f}}), true));
  EXPECT_TRUE(is(f32({{0x1p-80f, 0x1p-80f}}), false));
  EXPECT_TRUE(is(f32({{0x1p-80f, 0x1p-80f}}, -1), true));
  EXPECT_TRUE(is(f32({{1, 0x1p-100f}}, -0x1p-50), true));
  EXPECT_TRUE(is(f32({{1, 0x1p-149f}}, -0.5), true));
  EXPECT_EQ(f32({{1, 0x1p-149f}}, -0.75), -0x1p-149f);
  EXPECT_TRUE(is(f64({{0x1p-1074, 0x1p-1074}}, -0x1p-1074), true));
}

TEST(gemm_exact, overflows_only_where_the_result_does) {
  const float most = std::numeric_limits<float>::max();
  EXPECT_EQ(f32({{most, 1}, {0x1p103f, 1}}), HUGE_VALF);
  EXPECT_EQ(f32({{most, 1}, {0x1p103f, 1}, {0x1p-149f, -0x1p-149f}}), most);
  EXPECT_EQ(f32({{most, most}, {most, -most}, {-3, 5}}), -15);
  EXPECT_EQ(f32({{most, most}}, 0x1p-128), most - 0x1p104f);
  EXPECT_EQ(f32({{most, most}}, -1, 1, most), -HUGE_VALF);
  EXPECT_EQ(f64({{0x1p1000, 0x1p1000}}, 0x1p-1000), 0x1p1000);
  EXPECT_EQ(f64({{0x1p1000, 0x1p1000}, {0x1p-1000, 0x1p-1000}}, 0x1p1000, -kInfinity, -1),
            kInfinity);
  EXPECT_EQ(f64({{0x1p1000, 0x1p1000}, {3, 1}, {-0x1p1000, 0x1p1000}}, 0x1p1000, -2, 0x1p1000),
            0x1p1000);
}

TEST(gemm_exact, multiplies_infinities_and_nan_as_ieee_does) {
  const float infinity = HUGE_VALF;
  EXPECT_EQ(f32({{infinity, -2}, {1, 1}}, -1), infinity);
  EXPECT_TRUE(std::isnan(f32({{infinity, 0}})));
  EXPECT_TRUE(std::isnan(f32({{infinity, 1}, {-infinity, 1}})));
  EXPECT_TRUE(std::isnan(f32({{infinity, 1}}, -1, 1, infinity)));
  EXPECT_EQ(f32({{-2, 3}}, kInfinity), -infinity);
  EXPECT_EQ(f32({{-0x1p-149f, 0x1p-149f}}, kInfinity), -infinity);
  EXPECT_TRUE(std::isnan(f32({{2, 3}, {-3, 2}}, kInfinity)));
  EXPECT_TRUE(std::isnan(f32({{2, 3}}, 1, kInfinity, 0)));
  EXPECT_TRUE(std::isnan(f32({{2, 3}}, kNan)));
  EXPECT_EQ(f32({{2, 3}}, -kInfinity, 1, 5), -infinity);
}

TEST(gemm_exact, never_reads_what_alpha_or_beta_erase) {
  const auto nan = float(kNan);
  EXPECT_EQ(f32({{nan, nan}}, 0, 0.5, 2), 1);
  EXPECT_EQ(f32({{2, 3}}, 1, 0, nan), 6);
  EXPECT_EQ(f32({{2, 3}}, 1, -0.0, nan), 6);
  EXPECT_EQ(f32({}, kNan, 0.5, 2), 1);
  EXPECT_EQ(f32({}, kInfinity, 0, 2), 0);
}

/// 1 + 2^-24 + 2^-30, between 1 and its neighbour.
TEST(gemm_exact, is_off_by_half_a_last_place_at_most) {
  float a[] = {1, 1, 1}, b[] = {1, 0x1p-24f, 0x1p-30f}, c = 0, got = 0;
  trine_gemm g = planned(TRINE_F32, 1, 1, 3, 1, 0);
  g.a.memory = a, g.b.memory = b, g.c.memory = &c;
  const auto ulps = [&](float value) {
    got = value;
    trine_view view = dense_rows(1, 1);
    view.memory = &got;
    return most_ulps(g, view);
  };
  EXPECT_EQ(ulps(1 + 0x1p-23f), 0.5 - 0x1p-7);
  EXPECT_EQ(ulps(1), 0.5 + 0x1p-7);
  EXPECT_EQ(ulps(16), 0x1p27 - 0x1p23 - 0.5 - 0x1p-7);
  EXPECT_EQ(ulps(HUGE_VALF), kInfinity);
  EXPECT_EQ(ulps(float(kNan)), kInfinity);
  b[1] = b[2] = 0, b[0] = 0;
  EXPECT_EQ(ulps(0x1p-149f), 1);
}

}  // namespace
}  // namespace trine::oracle
