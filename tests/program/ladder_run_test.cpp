// Tests of the results that a ladder compares its own with before it prints them.
#include "bench/timing/side_by_side.hpp"

#include <gtest/gtest.h>

namespace trine::bench {
namespace {

Result right(const char* device, int64_t n, uint64_t digest) {
  Result result;
  result.problem = problem_of(Operation::reduce, Dtype::f32, {n, 1, 0});
  result.device = device;
  result.verified = true;
  result.digest = digest;
  return result;
}

/// The last of a ladder's lines as it keeps it; `before` came earlier.
Result last_of(const std::vector<Result>& before, Result last) {
  Control control(0);
  LadderRun run(control, 0.001, 1);
  for (const Result& result : before) run.keep({result});
  Result kept = run.keep({std::move(last)}).front();
  EXPECT_EQ(run.document.results.size(), before.size() + 1);
  EXPECT_EQ(run.document.results.back().verified, kept.verified);
  return kept;
}

TEST(LadderRun, FailsOtherBitsThanBeforeAsSoonAsTheyAreMeasured) {
  // Another problem between them, as in tables of one document.
  const Result wrong = last_of({right("cpu", 8, 1), right("cpu", 9, 2)}, right("cuda:0", 8, 3));
  EXPECT_FALSE(wrong.verified);
  EXPECT_EQ(wrong.failure, "other bits than cpu (0000000000000003, 0000000000000001)");
  EXPECT_TRUE(last_of({right("cpu", 8, 1), right("cpu", 9, 2)}, right("cuda:0", 8, 1)).verified);
}

TEST(LadderRun, HoldsOnlyReproducibleResultsThatWereRightAgainstEachOther) {
  Result vendor = right("cuda:0", 8, 2), failed = right("cuda:0", 8, 2);
  vendor.numerics = Numerics::vendor;
  failed.verified = false;
  failed.failure = "1 element differs";
  EXPECT_TRUE(last_of({vendor, failed}, right("cpu", 8, 1)).verified);
  EXPECT_TRUE(last_of({right("cpu", 8, 1)}, vendor).verified);
  EXPECT_EQ(last_of({right("cpu", 8, 1)}, failed).failure, failed.failure);
  Result wide = right("cpu", 8, 2);  // the same values, another result dtype
  wide.problem.result = Dtype::f64;
  EXPECT_TRUE(last_of({right("cpu", 8, 1)}, wide).verified);
}

}  // namespace
}  // namespace trine::bench
