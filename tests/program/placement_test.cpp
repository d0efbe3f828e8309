// The random cases of `trine calibrate --check` keep to their stated range, and come again from their seed.
#include "bench/placement/placement.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace trine::bench {
namespace {

TEST(PlacementCases, KeepToTheirRangeAndReachAllOfIt) {
  std::set<std::pair<Operation, Dtype>> kinds;
  std::set<Where> memories;
  double small = 1e30, large = 0;
  for (uint64_t index = 0; index < 2000; ++index) {
    const PlacementCase made = random_case({}, index);
    EXPECT_NO_THROW(check(made.problem)) << to_string(made);
    kinds.insert({made.problem.operation, made.problem.dtype});
    memories.insert(made.where);
    const Size& size = made.problem.size;
    if (made.problem.operation == Operation::gemm) {
      for (const int64_t extent : {size.rows, size.cols, size.depth}) {
        EXPECT_GE(extent, 1);
        EXPECT_LE(extent, 1500);
      }
      continue;
    }
    const double count = double(size.rows) * double(size.cols);
    small = std::min(small, count);
    large = std::max(large, count);
    EXPECT_LE(count, 0x1p24 + 1);
  }
  EXPECT_EQ(kinds.size(), 4u + 5u + 3u);
  EXPECT_EQ(memories, (std::set{Where::host, Where::host_pinned, Where::host_pipelined}));
  EXPECT_LT(small, 32);
  EXPECT_GT(large, 0x1p23);
}

TEST(PlacementCases, AreAFunctionOfSeedAndIndex) {
  EXPECT_EQ(to_string(random_case({.seed = 3}, 17)), to_string(random_case({.seed = 3}, 17)));
  EXPECT_NE(to_string(random_case({.seed = 3}, 17)), to_string(random_case({.seed = 3}, 18)));
  EXPECT_NE(to_string(random_case({.seed = 3}, 17)), to_string(random_case({.seed = 4}, 17)));
}

TEST(PlacementCases, OfSeveralRunsAreNotPipelined) {
  std::set<Where> memories;
  for (uint64_t index = 0; index < 200; ++index) {
    const PlacementCase made = random_case({.repeats = 10}, index);
    EXPECT_EQ(made.repeats, 10);
    memories.insert(made.where);
  }
  EXPECT_EQ(memories, (std::set{Where::host, Where::host_pinned}));
  EXPECT_EQ(random_range(10).find("pinned or pipelined"), std::string::npos);
  EXPECT_NE(random_range(1).find("pinned or pipelined"), std::string::npos);
}

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

TEST(PlacementReport, FailsBelowTheBarAndOnOtherBits) {
  PlacementOutcome good;
  good.which = random_case({}, 0);
  good.chosen = good.fastest = "cpu";
  good.seconds = {{"cpu", 1e-3}, {"opencl:0", 2e-3}};
  std::vector<PlacementOutcome> outcomes(20, good);
  EXPECT_TRUE(report_placement(outcomes, {}));
  outcomes[0].loss = 0.06;
  EXPECT_TRUE(report_placement(outcomes, {})) << "19 of 20 are 95 %";
  outcomes[1].loss = 0.06;
  EXPECT_FALSE(report_placement(outcomes, {}));
  outcomes.assign(20, good);
  outcomes[7].same_bits = false;
  EXPECT_FALSE(report_placement(outcomes, {}));
  EXPECT_FALSE(report_placement({}, {}));
}

TEST(PlacementReport, SaysWhatOneDeviceForAllWouldHaveScored) {
  PlacementOutcome near, far;
  near.seconds = {{"cpu", 1.04e-3}, {"cuda:0", 1e-3}};
  far.seconds = {{"cpu", 1e-3}, {"cuda:0", 2e-3}};
  EXPECT_EQ(
      always_text({near, far, far}),
      "Always cpu: 3 of 3, always cuda:0: 1 of 3. A single device for all cases does as well: "
      "they don't test place().");
  near.seconds[0].second = 1.06e-3;
  EXPECT_EQ(always_text({near, far, far}), "Always cpu: 2 of 3, always cuda:0: 1 of 3.");
  far.loss = 1;  // where place() was wrong
  EXPECT_NE(always_text({near, far, far}).find("does as well"), std::string::npos);
  EXPECT_EQ(always_text({}), "");
}

}  // namespace
}  // namespace trine::bench
