// A backend may lack an operation: then no case of it runs there, and none fails.
#include <gtest/gtest.h>

#include "conformance/case.hpp"
#include "conformance/runner.hpp"

namespace trine::conformance {
namespace {

TEST(rungless, an_operation_without_a_rung_has_no_cases) {
  Options options;
  Runner runner("rungless:0", {}, options);
  int64_t others = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Case c = random_case(seed);
    if (oracle::kind_of(c.plan) == TRINE_GEMM)
      EXPECT_EQ(runner.runs_of(c), 0) << c.name;
    else
      others += runner.runs_of(c);
  }
  EXPECT_GT(others, 0);
}

}  // namespace
}  // namespace trine::conformance
