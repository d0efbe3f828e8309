// Random calls against the oracle: a minute in all, on every device and on each SIMD target that
// this processor can be held to. `trine verify --random SECONDS --seed N` goes on for as long as
// asked.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <iostream>

#include "conformance/verify.hpp"

namespace trine::conformance {
namespace {

constexpr double kAllDevices = 36, kEachTarget = 8;
constexpr int64_t kLeast = 20;  // calls, by which a run has tried something: also on a busy machine

void run_random(double seconds, std::vector<std::string> devices) {
  Options options;
  options.random_seconds = seconds;
  options.devices = std::move(devices);
  options.require = required_by_environment();
  const Report report = verify(options);
  print(report, std::cout);
  EXPECT_TRUE(report.passed());
  EXPECT_GE(report.cases, kLeast);
}

TEST(random_calls, on_every_device) { run_random(kAllDevices, {}); }

// TRINE_BACKEND_PATH may have put a cpu backend of another kind in the place of the build's.
TEST(random_calls, on_the_cpu) { run_random(kEachTarget, {"cpu"}); }

// The backend and this program share Highway's library, which remembers what it may use.
class RandomCallsHeldTo : public testing::TestWithParam<int64_t> {
 protected:
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

TEST_P(RandomCallsHeldTo, target) {
  if ((hwy::SupportedTargets() & GetParam()) == 0) GTEST_SKIP() << "this processor has none";
  hwy::SetSupportedTargetsForTest(GetParam());
  run_random(kEachTarget, {"cpu"});
}

INSTANTIATE_TEST_SUITE_P(cpu, RandomCallsHeldTo,
                         testing::Values(HWY_AVX3, HWY_AVX2, HWY_STATIC_TARGET),
                         [](const auto& test) { return hwy::TargetName(test.param); });

TEST(random_calls, are_the_same_each_time) {
  Options options;
  options.devices = {"cpu"};
  options.random_seconds = 0;
  options.seed = 59;
  const Report once = verify(options), again = verify(options);
  EXPECT_EQ(once.cases, 1);
  EXPECT_EQ(once.classes, again.classes);
  EXPECT_TRUE(once.passed());
}

// So what the list behind the cases printed with a seed can be repeated.
TEST(random_calls, of_a_kind_take_every_seed) {
  Options options;
  options.devices = {"cpu"};
  options.random_seconds = 0;
  for (const char* kind : {"fill", "copy", "elementwise", "chain"})
    for (options.seed = 16; options.seed < 24; ++options.seed) {
      options.filter = kind;
      const Report report = verify(options);
      EXPECT_TRUE(report.passed()) << kind << " " << options.seed;
      EXPECT_EQ(report.classes.at("move"),
                (std::map<std::string, int64_t>{{std::string("cpu ") + kind, 1}}));
    }
}

}  // namespace
}  // namespace trine::conformance
