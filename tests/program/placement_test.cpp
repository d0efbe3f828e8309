// The calls that a calibration measures.
#include "bench/placement/placement.hpp"

#include <gtest/gtest.h>

#include <map>

namespace trine::bench {
namespace {

TEST(CalibratedCalls, AreEachOfEveryKindSmallAndLarge) {
  std::map<std::string, int> kinds;
  for (const Problem& problem : calibrated_calls()) {
    EXPECT_NO_THROW(check(problem)) << to_string(problem);
    const std::string call = tuning_key(problem);
    ++kinds[call.substr(0, call.rfind(' '))];
  }
  EXPECT_EQ(kinds.size(), 56u);
  for (const auto& [kind, sizes] : kinds) EXPECT_EQ(sizes, 2) << kind;
}

}  // namespace
}  // namespace trine::bench
