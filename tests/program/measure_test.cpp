// Statistics of samples, and that a failing measurement fails.
#include "bench/stats/measure.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace trine::bench {
namespace {

TEST(Samples, MedianAndSpread) {
  const Samples samples{{1, 2, 3, 4, 100}};
  EXPECT_DOUBLE_EQ(samples.median(), 3);
  EXPECT_DOUBLE_EQ(samples.spread(), (4.0 - 2.0) / 2 / 3);
  EXPECT_DOUBLE_EQ(Samples{}.median(), 0);
}

TEST(Measure, KeepsTheSecondsThatTheCallReports) {
  const Samples samples = measure(0.001, 3, [] { return 0.0005; });
  EXPECT_GE(samples.seconds.size(), 2U);
  EXPECT_DOUBLE_EQ(samples.median(), 0.0005);
}

TEST(Measure, HasAtLeastTheSamplesAskedFor) {
  EXPECT_GE(measure(0.001, 5, [] { return 1.0; }).seconds.size(), 5U);
}

TEST(Measure, RefusesAClockThatStandsStill) {
  EXPECT_THROW(measure(0.001, 1, [] { return 0.0; }), std::runtime_error);
  EXPECT_THROW(measure(0.001, 1, [] { return -1.0; }), std::runtime_error);
}

TEST(Measure, LetsAFailureOut) {
  EXPECT_THROW(measure(0.001, 1, []() -> double { throw std::runtime_error("no"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace trine::bench
