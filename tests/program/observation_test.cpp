// The sentence on what a caller sees, from made-up results whose answer is known.
#include "bench/timing/observation.hpp"

#include <gmock/gmock.h>

namespace trine::bench {
namespace {

using ::testing::HasSubstr, ::testing::Not;

/// The caller waits 10 µs more than the kernel takes, and for the copies.
Result result(const char* device, int64_t n, const char* memory, double kernel, double copying) {
  Result r;
  r.problem = problem_of(Operation::reduce, Dtype::f32, {n, 1, 0});
  r.device = device;
  r.rung = "exact";
  r.memory = memory;
  r.verified = true;
  r.kernel = kernel;
  if (r.memory == "resident") r.waited = Timed(std::vector{kernel + 10e-6});
  if (r.memory == "pageable") {
    r.total = kernel + copying;
    if (copying > 0) r.h2d = copying;
  }
  return r;
}

std::vector<Result> run_of(double cpu, double gpu, double copying) {
  std::vector<Result> results;
  for (int64_t n : {1 << 10, 1 << 20}) {
    const double scale = n == 1 << 10 ? 0.001 : 1;
    for (const char* memory : {"resident", "pageable"}) {
      results.push_back(result("cpu", n, memory, cpu * scale, 0));
      results.push_back(result("cuda:0", n, memory, gpu, copying));
    }
  }
  return results;
}

TEST(Observation, AFastKernelBehindASlowBus) {
  const std::string text = observation(run_of(41e-3, 1e-3, 99e-3), "cuda:0");
  EXPECT_THAT(text, HasSubstr("the kernel is 41.0× as fast as on cpu"));
  EXPECT_THAT(text, HasSubstr("the call 0.41×: 1 % of its 100 ms is the kernel"));
  EXPECT_THAT(text, HasSubstr("it pays for data that stays on the device from 2^20"));
  EXPECT_THAT(text, HasSubstr("up to 2^20 it never pays for one call on host data"));
}

TEST(Observation, NothingIsClaimedWithinTheNoise) {
  std::vector<Result> results = run_of(2e-3, 1e-3, 0.5e-3);
  for (Result& r : results)
    if (r.waited.seconds) r.waited.interval = {*r.waited.seconds / 2, *r.waited.seconds * 3};
  for (Result& r : results)
    if (r.total) r.interval = {*r.total / 2, *r.total * 3};
  const std::string text = observation(results, "cuda:0");
  EXPECT_THAT(
      text,
      HasSubstr("at 2^20 this run can't tell whether it pays for data that stays on the device"));
  EXPECT_THAT(text, Not(HasSubstr(" from 2^")));
}

TEST(Observation, WhatStandsAboveItsRoofIsKnown) {
  Result r = result("cpu", 1 << 20, "resident", 1e-3, 0);
  r.rate = 101;
  EXPECT_FALSE(is_above_roof({r})) << "no roof";
  r.roof.value = 100.6;
  EXPECT_FALSE(is_above_roof({r})) << "100 % as printed";
  r.roof.value = 100;
  EXPECT_TRUE(is_above_roof({r}));
  r.verified = false;
  EXPECT_FALSE(is_above_roof({r}));
}

TEST(Observation, ItPaysByWhatTheCallerSees) {
  // The kernel alone wins at either size; waiting for it takes longer than the cpu's 9 µs at the
  // small one.
  std::vector<Result> results = run_of(9e-3, 5e-6, 0);
  const auto from = [&] { return pays(results, "cuda:0"); };
  for (Result& r : results)
    if (r.device == "cpu" && r.waited.seconds) r.waited = Timed(std::vector{*r.kernel});
  EXPECT_THAT(from(), HasSubstr("stays on the device from 2^20"));
  for (Result& r : results) r.waited = {};  // as it was written before that was measured
  EXPECT_THAT(from(), HasSubstr("stays on the device from 2^10"));
}

TEST(Observation, NothingIsSaidWithoutACpu) {
  std::vector<Result> results = run_of(1, 1, 1);
  std::erase_if(results, [](const Result& r) { return r.device == "cpu"; });
  EXPECT_EQ(observation(results, "cuda:0"), "");
}

TEST(Observation, WrongResultsDoNotCount) {
  std::vector<Result> results = run_of(41e-3, 1e-3, 99e-3);
  for (Result& r : results)
    if (r.device == "cuda:0") r.verified = false;
  EXPECT_EQ(observation(results, "cuda:0"), "");
}

}  // namespace
}  // namespace trine::bench
