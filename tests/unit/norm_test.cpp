// norm() on host data, with a real backend.
#include <gtest/gtest.h>
#include <trine/trine.hpp>

#include <cmath>

namespace trine::testing {
namespace {

TEST(Norm, NeitherOverflowsNorUnderflows) {
  const HostOptions on{.device = "cpu"};
  EXPECT_EQ(norm(std::vector<double>{3, 4}, on), 5);
  EXPECT_EQ(norm(std::vector<double>{0x3p700, -0x4p700}, on), 0x5p700);
  EXPECT_EQ(norm(std::vector<double>{0x3p-1070, 0x4p-1070}, on), 0x5p-1070);
  EXPECT_EQ(norm(std::vector<float>{3e30f, 4e30f}, on), 5e30f);
  EXPECT_EQ(norm(std::vector<double>{}, on), 0);
  EXPECT_EQ(norm(std::vector<double>{-0.0}, on), 0);
  EXPECT_EQ(norm(std::vector<double>{1, -INFINITY}, on), INFINITY);
  EXPECT_TRUE(std::isnan(norm(std::vector<double>{NAN, INFINITY}, on)));
}

}  // namespace
}  // namespace trine::testing
