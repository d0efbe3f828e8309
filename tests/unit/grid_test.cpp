// The times that a calibration predicts between, beyond and in spite of its samples, and the place
// where two calibrations change places.
#include "core/src/auto/grid.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/src/auto/placement.hpp"

namespace trine::testing {
namespace {

using detail::Estimate;
using detail::find_swaps;
using detail::Grid;
using detail::Swaps;

Estimate within(double seconds, double spread) {
  return {seconds, seconds / (1 + spread), seconds * (1 + spread)};
}

/// A grid of one dimension, its points measured where `times` has one above 0.
Grid curve(const std::vector<double>& sizes, const std::vector<double>& times) {
  Grid grid({sizes});
  for (size_t i = 0; i < times.size(); ++i)
    if (times[i] > 0) grid.set(i, within(times[i], 0.1));
  EXPECT_TRUE(grid.complete());
  return grid;
}

double at(const Grid& grid, std::vector<double> extents) { return grid.at(extents.data()).seconds; }

TEST(Grid, PowerLawsComeBackBetweenAndBeyondTheirPoints) {
  const Grid grid = curve({16, 256, 4096}, {4, 16, 64});  // the square root
  for (const double n : {16.0, 30.0, 256.0, 1000.0, 4096.0, 1e6})
    EXPECT_NEAR(at(grid, {n}), std::sqrt(n), 1e-9 * std::sqrt(n)) << n;
  EXPECT_EQ(at(grid, {1}), at(grid, {16})) << "below the grid a call costs what a call costs";
  const Estimate between = grid.at(std::vector<double>{100.0}.data());
  EXPECT_NEAR(between.low, 10 / 1.1, 1e-9);
  EXPECT_NEAR(between.high, 10 * 1.1, 1e-9);
}

TEST(Grid, BeyondItsEndTimeGrowsAtMostLinearlyAndNeverShrinks) {
  EXPECT_NEAR(at(curve({10, 100}, {1, 1000}), {1000}), 10000, 1e-6);
  EXPECT_NEAR(at(curve({10, 100}, {8, 8}), {1000}), 8, 1e-9);
  EXPECT_NEAR(at(curve({10}, {3}), {100}), 30, 1e-9) << "one point alone: linear";
}

TEST(Grid, WhatWasNotMeasuredGoesOnAsItCame) {
  const Grid grid = curve({1, 10, 100, 1000}, {1, 1, 10, 0});
  EXPECT_NEAR(at(grid, {1000}), 100, 1e-9);
  EXPECT_NEAR(at(grid, {10000}), 1000, 1e-9);
  Grid empty({{1, 2}});
  EXPECT_FALSE(empty.complete());
  Grid no_first({{1, 2}});
  no_first.set(1, {1, 1, 1});
  EXPECT_FALSE(no_first.complete());
}

TEST(Grid, TimesGrowWithEveryExtentWhateverTheNoise) {
  Grid grid({{1, 10, 100}, {1, 10, 100}});
  const double times[] = {1, 9, 2, 0.5, 3, 4, 7, 6, 5};
  for (size_t i = 0; i < 9; ++i) grid.set(i, {times[i], times[i], times[i]});
  ASSERT_TRUE(grid.complete());
  for (int a = 0; a < 15; ++a)
    for (int b = 0; b < 15; ++b) {
      const double i = std::pow(1.7, a), j = std::pow(1.7, b);
      EXPECT_LE(at(grid, {i, j}), at(grid, {1.7 * i, j}) * (1 + 1e-12)) << i << ' ' << j;
      EXPECT_LE(at(grid, {i, j}), at(grid, {i, 1.7 * j}) * (1 + 1e-12)) << i << ' ' << j;
    }
}

TEST(Grid, SeveralExtentsMultiply) {
  Grid grid({{1, 10, 100}, {1, 10}, {1, 10}});
  for (size_t point = 0; point < grid.size(); ++point) {
    const std::vector<double> n = grid.extents(point);
    if (n[0] * n[1] * n[2] <= 1000) grid.set(point, within(n[0] * n[1] * n[2], 0));
  }
  ASSERT_TRUE(grid.complete());
  EXPECT_NEAR(at(grid, {3, 7, 2}), 42, 1e-9);
  EXPECT_NEAR(at(grid, {1000, 100, 50}), 5e6, 1e-3);
  EXPECT_EQ(grid.below(0, 0), grid.size());
  EXPECT_EQ(grid.extents(grid.below(grid.size() - 1, 1)), (std::vector<double>{100, 1, 10}));
}

Swaps swaps(double overhead_a, double slope_a, double overhead_b, double slope_b, double spread,
            double limit = 1e6) {
  return find_swaps([=](double n) { return within(overhead_a + slope_a * n, spread); },
                    [=](double n) { return within(overhead_b + slope_b * n, spread); }, limit);
}

TEST(BreakEven, IsWhereTheTimesAreEqualWithTheIntervalOfTheSamples) {
  const Swaps found = swaps(0, 2, 1000, 1, 0.05);  // equal at 1000
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_TRUE(found.all[0].first_below);
  EXPECT_NEAR(found.all[0].size, 1000, 10);
  // Sure where 2 n (1.05)^2 < 1000 + n, and 2 n > (1000 + n) (1.05)^2; a step is 9 %.
  EXPECT_GT(found.all[0].low, 829 / 1.1);
  EXPECT_LE(found.all[0].low, 830);
  EXPECT_GE(found.all[0].high, 1228);
  EXPECT_LT(found.all[0].high, 1229 * 1.1);
  const Swaps other_mode = swaps(1000, 1, 0, 2, 0.05);
  ASSERT_EQ(other_mode.all.size(), 1u);
  EXPECT_FALSE(other_mode.all[0].first_below);
}

TEST(BreakEven, IsNeverWhereMemoryEndsBefore) {
  const Swaps found = swaps(0, 2, 1000, 1, 0.05, 500);
  EXPECT_TRUE(found.all.empty());
  EXPECT_TRUE(found.sure);
  EXPECT_TRUE(found.first_is_faster);
  EXPECT_FALSE(swaps(1, 3, 1, 2, 0.05).first_is_faster);
}

TEST(BreakEven, EqualDevicesDontSwap) {
  int turn = 0;
  const auto noisy = [&turn](double n) { return within(n * (++turn % 3 == 0 ? 1.02 : 1), 0.05); };
  const Swaps found = find_swaps(noisy, noisy, 1e6);
  EXPECT_TRUE(found.all.empty());
  EXPECT_FALSE(found.sure);
}

TEST(BreakEven, MayComeTwice) {
  const Swaps found = find_swaps([](double n) { return within(n < 100 || n > 10000 ? 1 : 4, 0.1); },
                                 [](double) { return within(2, 0.1); }, 1e6);
  ASSERT_EQ(found.all.size(), 2u);
  EXPECT_TRUE(found.all[0].first_below);
  EXPECT_FALSE(found.all[1].first_below);
  EXPECT_NEAR(found.all[0].size, 100, 10);
  EXPECT_NEAR(found.all[1].size, 10000, 1000);
}

}  // namespace
}  // namespace trine::testing
