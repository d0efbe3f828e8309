// Unit tests of the reduce rungs, against references small enough to be read: Shewchuk's growing
// expansion for sums, plain recursion for products, loops for the rest. The conformance suite holds
// the same rungs against the oracle, at scale and on every backend.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "backends/kit/bits.hpp"
#include "reduce/arithmetic.hpp"
#include "reduce/super_accumulator.hpp"
#include "reduce_fixture.hpp"

namespace trine::cpu {
namespace {

TEST_P(ExactSum, f64_is_the_exact_sum_rounded_once) {
  for (Shape s : shapes())
    for (int spread : {0, 3, 30, 200, 900})
      for (bool cancel : {false, true}) {
        const auto data = values<double>(extent(s), spread, cancel, s.rows + 7 * spread);
        for (trine_axis axis : kAxes)
          for (int threads : {1, 3}) {
            const auto got = reduce<double>("exact", data, s, axis, TRINE_SUM, TRINE_IDENTITY,
                                            TRINE_F64, threads);
            for (std::int64_t r = 0; r < result_count(s, axis); ++r)
              ASSERT_EQ(std::bit_cast<std::uint64_t>(got[r]),
                        std::bit_cast<std::uint64_t>(reference_sum(elements(data, s, axis, r))))
                  << s.rows << 'x' << s.cols << " axis " << axis << " spread " << spread
                  << " result " << r << ' ' << got[r];
          }
      }
}

TEST_P(ExactSum, f32_and_its_squares_are_rounded_once_to_either_result) {
  for (Shape s : shapes())
    for (int spread : {0, 10, 60, 120})
      for (bool cancel : {false, true}) {
        const auto data = values<float>(extent(s), spread, cancel, s.cols + 7 * spread);
        for (trine_axis axis : kAxes) {
          const auto narrow =
              reduce<float>("exact", data, s, axis, TRINE_SUM, TRINE_IDENTITY, TRINE_F32, 2);
          const auto wide =
              reduce<double>("exact", data, s, axis, TRINE_SUM, TRINE_ABS, TRINE_F64, 2);
          const auto squares =
              reduce<double>("exact", data, s, axis, TRINE_SUM, TRINE_SQUARE, TRINE_F64, 2);
          for (std::int64_t r = 0; r < result_count(s, axis); ++r) {
            const auto list = elements(data, s, axis, r);
            const std::vector<double> exact(list.begin(), list.end());
            std::vector<double> magnitudes, squared;
            for (float x : list) magnitudes.push_back(std::fabs(x));
            for (float x : list) squared.push_back(double(x) * x);
            ASSERT_EQ(std::bit_cast<std::uint32_t>(narrow[r]),
                      std::bit_cast<std::uint32_t>(reference_sum_f32(exact)))
                << s.rows << 'x' << s.cols << " axis " << axis << " spread " << spread;
            ASSERT_EQ(wide[r], reference_sum(magnitudes));
            ASSERT_EQ(squares[r], reference_sum(squared)) << s.rows << 'x' << s.cols;
          }
        }
      }
}

TEST_P(ExactSum, f64_squares_keep_every_bit) {
  for (Shape s : shapes())
    for (int spread : {0, 20, 300}) {
      const auto data = values<double>(extent(s), spread, false, s.cols + spread);
      for (trine_axis axis : kAxes) {
        const auto got =
            reduce<double>("exact", data, s, axis, TRINE_SUM, TRINE_SQUARE, TRINE_F64, 2);
        for (std::int64_t r = 0; r < result_count(s, axis); ++r) {
          std::vector<double> terms;
          for (double x : elements(data, s, axis, r)) {
            terms.push_back(x * x);
            terms.push_back(std::fma(x, x, -(x * x)));
          }
          ASSERT_EQ(got[r], reference_sum(terms)) << s.rows << 'x' << s.cols << " axis " << axis;
        }
      }
    }
}

template <class T>
void check_products(int spread) {
  for (Shape s : shapes()) {
    const Shape by_columns{s.rows, s.cols, 1, s.rows};
    for (Shape other : {s, by_columns}) {
      const auto x = values<T>(extent(s), spread, spread == 20, s.cols + spread);
      const auto y = values<T>(extent(other), spread, false, s.rows + spread);
      for (trine_axis axis : kAxes) {
        const auto got =
            reduce<double>("exact", x, s, axis, TRINE_SUM, TRINE_PRODUCT, TRINE_F64, 2, &y, other);
        for (std::int64_t r = 0; r < result_count(s, axis); ++r) {
          const auto a = elements(x, s, axis, r), b = elements(y, other, axis, r);
          std::vector<double> terms;
          for (std::size_t i = 0; i < a.size(); ++i) {
            const double product = double(a[i]) * double(b[i]);
            terms.push_back(product);
            terms.push_back(std::fma(double(a[i]), double(b[i]), -product));
          }
          ASSERT_EQ(got[r], reference_sum(terms)) << s.rows << 'x' << s.cols << " axis " << axis;
        }
      }
    }
  }
}

TEST_P(ExactSum, products_keep_every_bit) {
  for (int spread : {0, 20, 60}) check_products<float>(spread);
  for (int spread : {0, 20, 220}) check_products<double>(spread);
}

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

TEST_P(ExactSum, ties_are_decided_by_what_lies_below) {
  for (double below : {-0x1p-200, 0.0, 0x1p-200})
    for (double one : {1.0, 1.0 + 0x1p-52}) {
      const std::vector<double> data = {one, 0x1p-53, below, 0, 0, 0, 0, 0};
      for (Shape s : {Shape{1, 8, 8, 1}, Shape{8, 1, 1, 1}})
        for (trine_axis axis : kAxes) {
          const auto got =
              reduce<double>("exact", data, s, axis, TRINE_SUM, TRINE_IDENTITY, TRINE_F64, 1);
          EXPECT_EQ(got[0], reference_sum(elements(data, s, axis, 0)));
        }
    }
}

TEST_P(ExactSum, follows_the_rules_for_zeros_infinities_and_overflow) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double max = std::numeric_limits<double>::max();
  const auto sum = [](std::vector<double> head, std::int64_t n, trine_map map) {
    head.resize(static_cast<std::size_t>(n), head.back());
    return reduce<double>("exact", head, {1, n, n, 1}, TRINE_ALL, TRINE_SUM, map, TRINE_F64, 2)[0];
  };
  for (std::int64_t n : {3, 64, 5000}) {
    EXPECT_TRUE(std::signbit(sum({-0.0}, n, TRINE_IDENTITY)));
    EXPECT_FALSE(std::signbit(sum({-0.0}, n, TRINE_ABS)));
    EXPECT_FALSE(std::signbit(sum({0.0, -0.0}, n, TRINE_IDENTITY)));
    EXPECT_FALSE(std::signbit(sum({1.0, -1.0, -0.0}, n, TRINE_IDENTITY)));
    EXPECT_EQ(sum({inf, 1.0}, n, TRINE_IDENTITY), inf);
    EXPECT_EQ(sum({-inf, 1.0}, n, TRINE_IDENTITY), -inf);
    EXPECT_EQ(sum({-inf, inf, 0}, n, TRINE_SQUARE), inf);
    EXPECT_TRUE(std::isnan(sum({-inf, inf, 0}, n, TRINE_IDENTITY)));
    EXPECT_TRUE(std::isnan(sum({1.0, nan, 0}, n, TRINE_ABS)));
    EXPECT_EQ(sum({max, max, 0}, n, TRINE_IDENTITY), inf);
    EXPECT_EQ(sum({max, max, -max, -max, 5}, 5, TRINE_IDENTITY), 5);
    EXPECT_EQ(sum({max, 1.0, -max, 0}, std::max<std::int64_t>(n, 4), TRINE_IDENTITY), 1);
    EXPECT_EQ(sum({max, 0.0}, n, TRINE_SQUARE), inf);
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

// Whether min and max prefer a to b.
template <bool kMax, class V>
bool is_better(V a, V b) {
  if constexpr (is_float<V>) {
    if (a != a || b != b) return a != a && b == b;
    if (a == b) return std::signbit(kMax ? b : a) && !std::signbit(kMax ? a : b);
  }
  return kMax ? a > b : a < b;
}

// A NaN of either sign, with one of nine payloads; the least is next to an infinity.
template <class T>
T some_nan(std::uint64_t random) {
  const auto infinity = std::bit_cast<Key<T>>(std::numeric_limits<T>::infinity());
  const T nan = std::bit_cast<T>(static_cast<Key<T>>(infinity + 1 + Key<T>(random / 2 % 9)));
  return random % 2 ? -nan : nan;
}

// Every other function, against a loop.
template <class T>
void check_functions() {
  std::mt19937_64 random(5);
  for (Shape s : shapes()) {
    std::vector<T> data(extent(s));
    for (T& x : data) {
      if constexpr (is_float<T>) {
        x = static_cast<T>(static_cast<double>(random() % 2001) - 1000) / 512;
        if (random() % 50 == 0) x = -T(0);
        if (random() % 200 == 0) x = std::copysign(std::numeric_limits<T>::infinity(), x);
        if (s.rows == 33 && random() % 500 == 0) x = some_nan<T>(random());
      } else {
        x = static_cast<T>(random() >> (random() % 64));
      }
    }
    for (trine_axis axis : kAxes)
      for (trine_map map : {TRINE_IDENTITY, TRINE_ABS}) {
        with_map(map, [&]<trine_map M>() {
          using V = Mapped<T, M>;
          const auto minima = reduce<V>("exact", data, s, axis, TRINE_MIN, map, dtype_of<V>(), 3);
          const auto maxima = reduce<V>("exact", data, s, axis, TRINE_MAX, map, dtype_of<V>(), 3);
          const auto argmin =
              reduce<std::int64_t>("exact", data, s, axis, TRINE_ARGMIN, map, TRINE_I64, 3);
          const auto argmax =
              reduce<std::int64_t>("exact", data, s, axis, TRINE_ARGMAX, map, TRINE_I64, 3);
          for (std::int64_t r = 0; r < result_count(s, axis); ++r) {
            const auto list = elements(data, s, axis, r);
            std::size_t low = 0, high = 0;
            for (std::size_t i = 1; i < list.size(); ++i) {
              const V x = mapped<M>(list[i]);
              if (is_better<false, V>(x, mapped<M>(list[low]))) low = i;
              if (is_better<true, V>(x, mapped<M>(list[high]))) high = i;
            }
            ASSERT_EQ(argmin[r], static_cast<std::int64_t>(low)) << s.rows << 'x' << s.cols;
            ASSERT_EQ(argmax[r], static_cast<std::int64_t>(high)) << s.rows << 'x' << s.cols;
            const V least = mapped<M>(list[low]), most = mapped<M>(list[high]);
            ASSERT_TRUE(least != least ? minima[r] != minima[r]
                                       : kit::bits_of(minima[r]) == kit::bits_of(least));
            ASSERT_TRUE(most != most ? maxima[r] != maxima[r]
                                     : kit::bits_of(maxima[r]) == kit::bits_of(most));
          }
        });
      }
  }
}

TEST_P(ExactSum, extremes_follow_the_order_of_the_numerics) {
  check_functions<float>();
  check_functions<double>();
  check_functions<std::int32_t>();
  check_functions<std::int64_t>();
  check_functions<std::uint32_t>();
  check_functions<std::uint64_t>();
}

template <class F>
F tree_product(const F* values, std::size_t n) {
  if (n == 0) return 1;
  if (n == 1) return values[0];
  const std::size_t left = std::bit_floor(n - 1);
  return tree_product(values, left) * tree_product(values + left, n - left);
}

TEST_P(ExactSum, products_follow_their_tree) {
  for (Shape s : shapes()) {
    auto data = values<float>(extent(s), 0, false, 3);
    for (float& x : data) x = x / 1.4426950f;
    for (trine_axis axis : kAxes) {
      const auto got =
          reduce<float>("exact", data, s, axis, TRINE_PROD, TRINE_IDENTITY, TRINE_F32, 3);
      for (std::int64_t r = 0; r < result_count(s, axis); ++r) {
        const auto list = elements(data, s, axis, r);
        ASSERT_EQ(std::bit_cast<std::uint32_t>(got[r]),
                  std::bit_cast<std::uint32_t>(tree_product(list.data(), list.size())))
            << s.rows << 'x' << s.cols << " axis " << axis;
      }
    }
  }
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

TEST_P(ExactSum, integer_sums_and_products_are_modulo_2_64) {
  std::mt19937_64 random(11);
  for (Shape s : shapes()) {
    std::vector<std::int32_t> data(extent(s));
    for (auto& x : data) x = static_cast<std::int32_t>(random() | 1);
    for (trine_axis axis : kAxes)
      for (trine_map map : {TRINE_IDENTITY, TRINE_ABS, TRINE_SQUARE}) {
        const auto sums =
            reduce<std::uint64_t>("exact", data, s, axis, TRINE_SUM, map, TRINE_I64, 2);
        const auto products =
            reduce<std::uint64_t>("exact", data, s, axis, TRINE_PROD, TRINE_IDENTITY, TRINE_I64, 2);
        for (std::int64_t r = 0; r < result_count(s, axis); ++r) {
          std::uint64_t sum = 0, product = 1;
          for (std::int64_t x : elements(data, s, axis, r)) {
            sum += static_cast<std::uint64_t>(map == TRINE_ABS      ? std::llabs(x)
                                              : map == TRINE_SQUARE ? x * x
                                                                    : x);
            product *= static_cast<std::uint64_t>(x);
          }
          ASSERT_EQ(sums[r], sum) << s.rows << 'x' << s.cols << " axis " << axis;
          ASSERT_EQ(products[r], product) << s.rows << 'x' << s.cols << " axis " << axis;
        }
      }
  }
}

// Integers whose sums are exact in f32 have one answer, whatever the order.
TEST(StudyRungs, add_multiply_and_compare_small_integers_right) {
  for (const char* name : {"sequential", "kokkos_range", "kokkos_team", "simd"})
    for (Shape s : shapes()) {
      std::mt19937_64 random(17);
      std::vector<float> data(extent(s));
      for (float& x : data) x = static_cast<float>(random() % 33) - 16;
      for (trine_axis axis : kAxes)
        for (int threads : {1, 3}) {
          const auto sums =
              reduce<double>(name, data, s, axis, TRINE_SUM, TRINE_SQUARE, TRINE_F64, threads);
          const auto most =
              reduce<float>(name, data, s, axis, TRINE_MAX, TRINE_ABS, TRINE_F32, threads);
          auto signs = data;
          for (float& x : signs) x = x < 0 ? -1.0f : 1.0f;
          const auto products =
              reduce<float>(name, signs, s, axis, TRINE_PROD, TRINE_IDENTITY, TRINE_F32, threads);
          for (std::int64_t r = 0; r < result_count(s, axis); ++r) {
            double sum = 0;
            float largest = 0, product = 1;
            for (float x : elements(data, s, axis, r)) sum += double(x) * x;
            for (float x : elements(data, s, axis, r)) largest = std::max(largest, std::fabs(x));
            for (float x : elements(signs, s, axis, r)) product *= x;
            ASSERT_EQ(sums[r], sum) << name << ' ' << s.rows << 'x' << s.cols << " axis " << axis;
            ASSERT_EQ(most[r], largest) << name;
            ASSERT_EQ(products[r], product) << name << ' ' << s.rows << 'x' << s.cols;
          }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(OnEveryTarget, ExactSum,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), name_of);

}  // namespace
}  // namespace trine::cpu
