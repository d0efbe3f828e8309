// Random calls against the oracle: less than a minute in all, on every device and on each SIMD
// target that this processor can be held to, where cases of the exact reductions and of gemm run
// too. `trine verify --random SECONDS --seed N` goes on for as long as asked.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <iostream>

#include "conformance/verify.hpp"

namespace trine::conformance {
namespace {

constexpr double kAllDevices = 16, kEachTarget = 3;
constexpr int64_t kLeast = 20;  // calls, by which a run has tried something: also on a busy machine

void run_cases(const Options& options, int64_t least) {
  const Report report = verify(options);
  print(report, std::cout);
  EXPECT_TRUE(report.passed());
  EXPECT_GE(report.cases, least);
}

void run_random(double seconds, std::vector<std::string> devices) {
  Options options;
  options.random_seconds = seconds;
  options.devices = std::move(devices);
  options.require = required_by_environment();
  run_cases(options, kLeast);
}

TEST(random_calls, on_every_device) { run_random(kAllDevices, {}); }

// TRINE_BACKEND_PATH may have put a cpu backend of another kind in the place of the build's.
TEST(random_calls, on_the_cpu) { run_random(kEachTarget, {"cpu"}); }

// The backend and this program share Highway's library, which remembers what it may use.
class CpuHeldTo : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    if ((hwy::SupportedTargets() & GetParam()) == 0) GTEST_SKIP() << "this processor has none";
    hwy::SetSupportedTargetsForTest(GetParam());
  }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

TEST_P(CpuHeldTo, random_calls_are_right) { run_random(kEachTarget, {"cpu"}); }

TEST_P(CpuHeldTo, exact_reductions_are_right) {
  Options options;
  options.devices = {"cpu"};
  options.rung = "exact";
  run_cases(options, 1500);
}

TEST_P(CpuHeldTo, gemm_is_right) {
  Options options;
  options.devices = {"cpu"};
  options.filter = "gemm";
  options.quick = true;
  run_cases(options, 1200);
}

INSTANTIATE_TEST_SUITE_P(cpu, CpuHeldTo, testing::Values(HWY_AVX3, HWY_AVX2, HWY_STATIC_TARGET),
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
