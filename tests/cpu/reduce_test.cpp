// The exact reduce rung where the conformance suite has no cases: terms beyond the range of
// doubles, limbs that are full, subtrees of every size. random_test.cpp runs the suite on each SIMD
// target.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "reduce/super_accumulator.hpp"
#include "reduce_fixture.hpp"

namespace trine::cpu {
namespace {

TEST_P(ExactSum, products_beyond_the_range_of_doubles_cancel) {
  const double inf = std::numeric_limits<double>::infinity(),
               tiny = std::numeric_limits<double>::denorm_min();
  const auto dot = [](std::vector<double> x, std::vector<double> y, std::int64_t n) {
    x.resize(static_cast<std::size_t>(n));
    y.resize(static_cast<std::size_t>(n), 1.0);
    const Shape s{1, n, n, 1};
    return reduce<double>("exact", x, s, TRINE_ALL, TRINE_SUM, TRINE_PRODUCT, TRINE_F64, 2, &y,
                          s)[0];
  };
  for (std::int64_t n : {6, 17, 70, 5000}) {
    EXPECT_EQ(dot({0x1p1000, -0x1p1023, 3}, {0x1p1000, 0x1p977, 5}, n), 15) << n;
    EXPECT_EQ(dot({tiny, 1, tiny, -1}, {tiny, 1, -tiny, 1}, n), 0) << n;
    EXPECT_EQ(dot({0x1p-538, 0x1p-537}, {0x1p-538, 0x1p-538}, n), tiny) << n;  // 3/4 of it
    EXPECT_EQ(dot({0x1p600, 1}, {-0x1p600, 1}, n), -inf) << n;
    EXPECT_EQ(dot({inf, 1}, {tiny, 1}, n), inf) << n;
    EXPECT_TRUE(std::isnan(dot({inf, 1}, {0, 1}, n))) << n;
    EXPECT_TRUE(std::isnan(dot({inf, inf}, {1, -1}, n))) << n;
    EXPECT_TRUE(std::isnan(dot({0, 1}, {std::nan(""), 1}, n))) << n;
    EXPECT_FALSE(std::signbit(dot({-0.0, 0.0}, {1, 1}, n))) << n;
  }
  EXPECT_TRUE(std::signbit(dot({-0.0, 0.0}, {1, -1}, 2)));
}

TEST_P(ExactSum, squares_beyond_the_range_of_doubles_are_summed_too) {
  for (std::int64_t n : {1, 5, 40, 5000}) {
    // One square is 2^-1078, a sixteenth of the smallest denormal.
    std::vector<double> tiny(static_cast<std::size_t>(n), 0x1p-539);
    const Shape s{1, n, n, 1};
    EXPECT_EQ(reduce<double>("exact", tiny, s, TRINE_ALL, TRINE_SUM, TRINE_SQUARE, TRINE_F64, 2)[0],
              std::nearbyint(static_cast<double>(n) / 16) * 0x1p-1074)
        << n;
    tiny.assign(tiny.size(), 0x1p600);
    EXPECT_EQ(reduce<double>("exact", tiny, s, TRINE_ALL, TRINE_SUM, TRINE_SQUARE, TRINE_F64, 2)[0],
              std::numeric_limits<double>::infinity());
  }
}

TEST(SuperAccumulator, carries_before_its_limbs_overflow) {
  const std::int64_t most = (std::int64_t(1) << 57) - 1;
  for (const int exponent : {-2100, -1, 900})
    for (const std::int64_t value : {most, -most}) {
      SuperAccumulator once, often;
      once.add(value, exponent + 19);
      for (int i = 0; i < 1 << 19; ++i) often.add(value, exponent);
      std::uint64_t a[TRINE_EXACT_WORDS], b[TRINE_EXACT_WORDS];
      once.store(a, false), often.store(b, false);
      EXPECT_TRUE(std::ranges::equal(a, b)) << value << " * 2^" << exponent;
    }
}

TEST_P(ExactSum, short_lines_overflow_to_infinity) {
  const std::vector<float> huge(120, -std::numeric_limits<float>::max());
  const std::vector<float> infinities(40, -std::numeric_limits<float>::infinity());
  for (const auto& [shape, axis] :
       {std::pair{Shape{40, 3, 3, 1}, TRINE_EACH_ROW}, {Shape{3, 40, 40, 1}, TRINE_EACH_COLUMN}})
    EXPECT_EQ(reduce<float>("exact", huge, shape, axis, TRINE_SUM, TRINE_IDENTITY, TRINE_F32, 1),
              infinities);
}

template <class F>
F tree_product(const F* values, std::size_t n) {
  if (n == 0) return 1;
  if (n == 1) return values[0];
  const std::size_t left = std::bit_floor(n - 1);
  return tree_product(values, left) * tree_product(values + left, n - left);
}

// Around the sizes of the subtrees that are multiplied at once, by each number of lanes; where they
// lie, packed, and rows apart, whose end comes after what was packed.
template <class F>
void check_long_products(trine_dtype dtype) {
  std::mt19937_64 random(23);
  std::uniform_real_distribution<F> near_one(F(0.99), F(1.01));
  for (std::int64_t n : {127, 128, 255, 256, 511, 512, 513, 4095, 4096, 4097, 20000, 32767, 32768,
                         32769, 37165, 98303, 131072})
    for (const Shape s : {Shape{1, n, n, 1}, Shape{1, n, n * 2, 2}, Shape{2, n, n + 32, 1},
                          Shape{3, n, n + 1, 1}}) {
      std::vector<F> data(extent(s));
      for (F& x : data) x = random() % 2 ? near_one(random) : -near_one(random);
      for (trine_map map : {TRINE_IDENTITY, TRINE_ABS}) {
        auto factors = elements(data, s, TRINE_ALL, 0);
        if (map == TRINE_ABS)
          for (F& x : factors) x = std::abs(x);
        const auto got = reduce<F>("exact", data, s, TRINE_ALL, TRINE_PROD, map, dtype, 3);
        EXPECT_EQ(got[0], tree_product(factors.data(), factors.size()))
            << s.rows << " x " << n << ", " << s.row_stride << " apart, map " << map;
      }
    }
}

TEST_P(ExactSum, long_products_follow_their_tree) {
  check_long_products<float>(TRINE_F32);
  check_long_products<double>(TRINE_F64);
}

INSTANTIATE_TEST_SUITE_P(OnEveryTarget, ExactSum,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), name_of);

}  // namespace
}  // namespace trine::cpu
