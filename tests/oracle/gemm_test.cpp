// The gemm reference against the chain spelled out in MPFR, and the rules of alpha, beta and zero.
#include "oracle/gemm.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "gemm_reference.hpp"
#include "mpfr_sum.hpp"

namespace trine::oracle {
namespace {

template <class T>
T chain_by_mpfr(const trine_gemm& g, int64_t i, int64_t j, T alpha, T beta, T c) {
  T acc = trine_continues(&g) ? c : T(0);
  for (int64_t p = 0; p < g.a.cols; ++p) acc = mpfr_fma_of(at<T>(g.a, i, p), at<T>(g.b, p, j), acc);
  const T t = alpha == 0 || g.a.cols == 0 ? T(0) : T(alpha * T(acc + T(0)));
  return beta == 0 ? t : mpfr_fma_of(beta, c, t);
}

constexpr Values kValues[] = {Values::kUniform,   Values::kWide,     Values::kMixed,
                              Values::kUnderflow, Values::kDenormal, Values::kExtremes,
                              Values::kCancel,    Values::kNan};
constexpr std::pair<double, double> kScalars[] = {
    {1.0, 0.0}, {-0.75, 1.0}, {0.0, 0.5}, {3.0, -0.0}};

template <class T>
void compare_with_mpfr(uint32_t dtype, Values values, double alpha, double beta, uint64_t seed,
                       uint64_t flags = 0) {
  SCOPED_TRACE(name_of(values));
  HostOperation host(plan_gemm(dtype, 6, 67, 19, alpha, beta));
  std::get<trine_gemm>(host.op).flags = flags;
  fill(host.op, values, seed);
  const trine_gemm g = std::get<trine_gemm>(host.op);
  compare_references<T>(host, seed, [&](int64_t i, int64_t j) {
    return chain_by_mpfr(g, i, j, T(alpha), T(beta), at<T>(g.c, i, j));
  });
}

TEST(gemm_reference, equals_the_chain_in_mpfr) {
  for (Values values : kValues)
    for (auto [alpha, beta] : kScalars) {
      compare_with_mpfr<float>(TRINE_F32, values, alpha, beta, 3);
      compare_with_mpfr<double>(TRINE_F64, values, alpha, beta, 4);
      if (beta != 0) continue;
      compare_with_mpfr<float>(TRINE_F32, values, alpha, beta, 3, TRINE_CONTINUES);
      compare_with_mpfr<double>(TRINE_F64, values, alpha, beta, 4, TRINE_CONTINUES);
    }
}

TEST(gemm_bounds, need_no_c_that_is_not_read) {
  HostOperation host(plan_gemm(TRINE_F32, 6, 67, 19, 1.0, 0.0));
  fill(host.op, Values::kUniform, 3);
  trine_gemm g = std::get<trine_gemm>(host.op);
  const std::vector<Position> samples = sample_positions(g.c, 100, 3);
  const std::vector<double> with = error_bounds_at(g, samples, {0x1p-24});
  g.c.memory = nullptr;
  EXPECT_EQ(with, error_bounds_at(g, samples, {0x1p-24}));
}

struct TinyGemm {
  float a[2], b[2], c[1];
  Operation op;
  TinyGemm(float a0, float a1, float b0, float b1, float c0, double alpha, double beta,
           int64_t k = 2, uint64_t flags = 0)
      : a{a0, a1}, b{b0, b1}, c{c0}, op(plan_gemm(TRINE_F32, 1, 1, k, alpha, beta)) {
    auto& g = std::get<trine_gemm>(op);
    g.flags = flags;
    g.a.memory = a, g.b.memory = b, g.c.memory = c;
    reference(op);
  }
  uint32_t result() const { return std::bit_cast<uint32_t>(c[0]); }
};

/// TF32 parts of 2^-140 are zero; of 1 they are exact, and a bound that forgives them all were
/// none.
TEST(gemm_bounds, allow_fast_alone_to_lose_tiny_operands) {
  const auto bound = [](float a, float b, uint32_t numerics) {
    return error_bounds(TinyGemm(a, 0, b, 0, 0, 1, 0, 1).op, numerics).at(0);
  };
  EXPECT_GE(bound(0x1p-140f, 0x1p100f, TRINE_FAST), 0x1p-40);
  EXPECT_LE(bound(0x1p-140f, 0x1p100f, TRINE_STUDY), 0x1p-60);
  EXPECT_LE(bound(1, 1, TRINE_FAST), 0x1p-17);
}

TEST(gemm_reference, never_reads_what_alpha_or_beta_erase) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(TinyGemm(nan, nan, nan, nan, 2, 0, 0.5).result(), std::bit_cast<uint32_t>(1.0f));
  EXPECT_EQ(TinyGemm(1, 2, 3, 4, nan, 1, 0).result(), std::bit_cast<uint32_t>(11.0f));
  EXPECT_EQ(TinyGemm(1, 2, 3, 4, nan, 1, -0.0).result(), std::bit_cast<uint32_t>(11.0f));
  EXPECT_EQ(TinyGemm(1, 2, 3, 4, 5, double(nan), 0, 0).result(), 0u);
}

TEST(gemm_reference, makes_an_underflowed_zero_positive) {
  EXPECT_EQ(TinyGemm(0x1p-100f, 0, -0x1p-100f, 0, 9, 1, 0).result(), 0u);
  EXPECT_EQ(TinyGemm(0x1p-100f, 0, -0x1p-100f, 0, 9, -1, 0).result(), 0x80000000u);
}

TEST(gemm_reference, begins_at_c_where_the_chain_continues) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(TinyGemm(1, 2, 3, 4, 5, 2, 0, 2, TRINE_CONTINUES).result(),
            std::bit_cast<uint32_t>(32.0f));
  EXPECT_EQ(TinyGemm(nan, nan, nan, nan, 5, 2, 0, 0, TRINE_CONTINUES).result(),
            std::bit_cast<uint32_t>(10.0f));
  EXPECT_EQ(TinyGemm(nan, nan, nan, nan, -0.0f, 1, 0, 0, TRINE_CONTINUES).result(), 0u);
  EXPECT_EQ(TinyGemm(nan, nan, nan, nan, nan, 0, 0, 2, TRINE_CONTINUES).result(), 0u);
}

TEST(gemm_reference, wraps_integers) {
  HostOperation host(plan_gemm(TRINE_I32, 3, 5, 7, 2147483647.0, -3));
  fill(host.op, Values::kUniform, 1);
  const trine_gemm g = std::get<trine_gemm>(host.op);
  uint32_t acc = 0;
  for (int64_t p = 0; p < 7; ++p) acc += at<uint32_t>(g.a, 2, p) * at<uint32_t>(g.b, p, 4);
  const uint32_t expected = 2147483647u * acc - 3u * at<uint32_t>(g.c, 2, 4);
  reference(host.op);
  EXPECT_EQ(at<uint32_t>(g.c, 2, 4), expected);
}

TEST(gemm_reference, takes_any_strides_and_batches) {
  for (const uint32_t numerics : {TRINE_REPRODUCIBLE, TRINE_EXACT}) {
    Operation plan = plan_gemm(TRINE_F64, 9, 35, 4, 0.1, -0.1, 3);
    auto& g = std::get<trine_gemm>(plan);
    g.numerics = numerics;
    HostOperation rows(plan);
    g.a = dense_columns(9, 4, 3), g.b = dense_columns(4, 35, 3), g.c = dense_columns(9, 35, 3);
    HostOperation columns(plan);
    fill(rows.op, Values::kWide, 7), fill(columns.op, Values::kWide, 7);
    reference(rows.op), reference(columns.op);
    const Difference d =
        compare(TRINE_F64, std::get<trine_gemm>(rows.op).c, std::get<trine_gemm>(columns.op).c);
    EXPECT_EQ(d.compared, 9 * 35 * 3);
    EXPECT_TRUE(d.none()) << d.sentence();
  }
}

}  // namespace
}  // namespace trine::oracle
