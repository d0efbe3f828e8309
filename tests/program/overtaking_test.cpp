// From which size on one curve is ahead of another: the words, and the place between two sizes.
#include "bench/stats/overtaking.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace trine::bench {
namespace {

std::string words(const std::vector<Compared>& sizes) {
  return overtaking(sizes).text([](double size) { return fmt::format("{:g}", size); });
}

TEST(Overtaking, IsForGood) {
  EXPECT_EQ(words({{1, 0.5}, {2, 0.9}, {4, 1.1}, {8, 2}}), "between 2 and 4");
  // Ahead for a while, and behind again.
  EXPECT_EQ(words({{1, 0.5}, {2, 1.2}, {4, 0.9}, {8, 2}}), "between 4 and 8");
  EXPECT_EQ(words({{1, 2}, {2, 0.9}, {4, 0.8}}), "not up to 4");
  EXPECT_EQ(words({{1, 1.5}, {2, 1.2}}), "below 1");
  EXPECT_EQ(words({{1, 0.5}, {2, 1}}), "not up to 2");  // as fast isn't faster
  EXPECT_EQ(words({}), "");
}

TEST(Overtaking, CrossesOnStraightLinesOfLogarithms) {
  EXPECT_DOUBLE_EQ(*overtaking({{1, 0.5}, {4, 2}}).crossing(), 2);
  EXPECT_DOUBLE_EQ(*overtaking({{1, 0.1}, {2, 1}, {4, 8}}).crossing(), 2);
  EXPECT_FALSE(overtaking({{1, 2}}).crossing());
  EXPECT_FALSE(overtaking({{1, 0.5}}).crossing());
}

}  // namespace
}  // namespace trine::bench
