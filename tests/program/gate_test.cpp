// The gate's statistics on timings as noisy machines make them, from a fixed seed: how often it cries
// wolf, how often it misses one; and its verdicts on documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "bench/error.hpp"
#include "bench/rounds.hpp"
#include "bench/verdict.hpp"

namespace trine::bench {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const double kMargin = std::log1p(0.05);

/// Rounds around `middle`: a run's own luck with its memory (`run`), each round's (`round`), and now and
/// then a round that something disturbed.
struct Machine {
  std::mt19937_64 random{1};
  double run = 0.005, round = 0.02, disturbed = 0.05;

  std::vector<double> rounds(int count, double middle) {
    std::normal_distribution<double> luck;
    std::uniform_real_distribution<double> chance;
    middle *= std::exp(run * luck(random));
    std::vector<double> all;
    all.reserve(size_t(count));
    for (int i = 0; i < count; ++i)
      all.push_back(middle * std::exp(round * luck(random)) *
                    (chance(random) < disturbed ? 1 + chance(random) : 1));
    return all;
  }
  /// Two runs of 150 cases that took turns while the machine was up to twice as slow.
  std::vector<Comparison> in_turns(int rounds_each, int slow, double factor) {
    std::uniform_real_distribution<double> others(1, 2);
    std::vector<Comparison> all = runs(rounds_each, slow, factor);
    for (Comparison& c : all) {
      c.paired = true;
      for (size_t i = 0; i < c.base.size(); ++i) {
        const double both = others(random);
        c.base[i] *= both;
        c.next[i] *= both;
        c.next_roof[i] /= 1.2;  // roofs are no excuse in turns
      }
    }
    return all;
  }
  /// Two runs of 150 cases, the first `slow` of them by `factor`, on a machine slower by `drift`.
  std::vector<Comparison> runs(int rounds_each, int slow, double factor, double drift = 1) {
    std::vector<Comparison> all;
    for (int i = 0; i < 150; ++i) {
      const double middle = 1e-6 * std::exp(0.1 * i);
      Comparison c;
      c.name = std::to_string(i);
      c.device = "cpu";
      c.base = rounds(rounds_each, middle);
      c.next = rounds(rounds_each, middle * drift * (i < slow ? factor : 1));
      c.base_roof = rounds(rounds_each, 1e10);
      c.next_roof = rounds(rounds_each, 1e10 / drift);
      all.push_back(c);
    }
    return all;
  }
};

int code_of(std::vector<Comparison> all) {
  judge(all, kMargin);
  return gate_code(all, kMargin);
}

TEST(Shift, ProbabilitiesAreThoseOfTheTables) {
  EXPECT_DOUBLE_EQ(mann_whitney(3, 3, 9), 1 / 20.0);
  EXPECT_DOUBLE_EQ(mann_whitney(5, 5, 25), 1 / 252.0);
  EXPECT_DOUBLE_EQ(mann_whitney(5, 5, 24), 2 / 252.0);
  EXPECT_DOUBLE_EQ(mann_whitney(4, 6, 0), 1);
  EXPECT_NEAR(mann_whitney(10, 10, 77), 0.0216, 0.0001);  // critical value 23 of the tables
  EXPECT_NEAR(mann_whitney(40, 40, 800), 0.5, 0.01);
}

TEST(Shift, IsTheMedianOfPairwiseDifferences) {
  const Shift shift = shift_between({1, 1, 1, 1, 1}, {2, 2, 2, 2, 2}, 0);
  EXPECT_DOUBLE_EQ(shift.estimate, std::log(2));
  EXPECT_DOUBLE_EQ(shift.low, std::log(2));
  EXPECT_DOUBLE_EQ(shift.slower, 1 / 252.0);
  EXPECT_DOUBLE_EQ(shift.faster, 1);
}

TEST(Shift, ItsIntervalHoldsTheTruthAsOftenAsItSays) {
  Machine machine;
  machine.run = 0;
  int held = 0;
  for (int i = 0; i < 2000; ++i) {
    const Shift shift = shift_between(machine.rounds(10, 1), machine.rounds(10, 1.1), 0);
    held += shift.low <= std::log(1.1) && std::log(1.1) <= shift.high ? 1 : 0;
  }
  EXPECT_GE(held, 1780);
}

TEST(Shift, OfPairsHasTheProbabilitiesOfTheTables) {
  EXPECT_DOUBLE_EQ(wilcoxon(3, 6), 1 / 8.0);
  EXPECT_DOUBLE_EQ(wilcoxon(5, 14), 2 / 32.0);
  EXPECT_DOUBLE_EQ(wilcoxon(5, 0), 1);
  EXPECT_NEAR(wilcoxon(10, 55 - 10), 0.0420, 0.0001);  // critical value 10 of the tables
  const Shift shift = shift_of_pairs({1, 2, 4, 8, 16}, {2, 4, 8, 16, 32}, 0);
  EXPECT_DOUBLE_EQ(shift.estimate, std::log(2));
  EXPECT_DOUBLE_EQ(shift.slower, 1 / 32.0);
  EXPECT_DOUBLE_EQ(shift.faster, 1);
}

TEST(Shift, OfPairsSeesThroughWhatBefallsBoth) {
  Machine machine{.run = 0, .round = 0.02};
  std::uniform_real_distribution<double> state(0, 0.5);
  int held = 0, found = 0, alarms = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<double> base = machine.rounds(15, 1), next = machine.rounds(15, 1.1);
    std::vector<double> again = machine.rounds(15, 1);
    for (size_t k = 0; k < base.size(); ++k) {
      const double both = std::exp(state(machine.random));
      base[k] *= both;
      next[k] *= both;
      again[k] *= both;
    }
    const Shift shift = shift_of_pairs(base, next, kMargin);
    held += shift.low <= std::log(1.1) && std::log(1.1) <= shift.high ? 1 : 0;
    found += shift.slower < 0.05 ? 1 : 0;
    alarms += shift_of_pairs(base, again, kMargin).slower < 0.05 ? 1 : 0;
  }
  EXPECT_GE(held, 440);
  EXPECT_GE(found, 475);
  EXPECT_LE(alarms, 5);
}

TEST(Shift, TooFewRoundsTellNothing) {
  const Shift shift = shift_between({1, 1}, {2, 2}, 0);
  EXPECT_TRUE(std::isinf(shift.low) && std::isinf(shift.high));
  EXPECT_EQ(rounds_needed(1, 0.05, false), 3);
  EXPECT_EQ(rounds_needed(150, 0.05, false), 7);
  EXPECT_EQ(rounds_needed(150, 0.05, true), 12);
}

TEST(Shift, HolmMultipliesTheLeastBySoManyAsThereAre) {
  const std::vector<double> corrected = holm({0.01, 0.04, 0.03, 0.9});
  EXPECT_DOUBLE_EQ(corrected[0], 0.04);
  EXPECT_DOUBLE_EQ(corrected[2], 0.09);
  EXPECT_DOUBLE_EQ(corrected[1], 0.09) << "never less than a rarer one";
  EXPECT_DOUBLE_EQ(corrected[3], 0.9);
}

TEST(Gate, CriesWolfInAtMostOneOfTwentyRuns) {
  Machine machine;
  int wolf = 0;
  for (int i = 0; i < 100; ++i) wolf += code_of(machine.runs(10, 0, 1)) == kExitFailed ? 1 : 0;
  EXPECT_LE(wolf, 5);
}

TEST(Gate, FindsOneCaseOfAHundredAndFiftyTenPercentSlower) {
  Machine machine;
  machine.round = 0.012;
  int found = 0;
  for (int i = 0; i < 50; ++i) found += code_of(machine.runs(15, 1, 1.1)) == kExitFailed ? 1 : 0;
  EXPECT_GE(found, 45);
}

TEST(Gate, FindsTenPercentInTenCasesAlsoOnANoisyMachine) {
  Machine machine;
  machine.round = 0.025;
  int found = 0;
  for (int i = 0; i < 50; ++i) found += code_of(machine.runs(10, 10, 1.1)) == kExitFailed ? 1 : 0;
  EXPECT_GE(found, 45);
}

TEST(Gate, InTurnsCriesNoWolfAndFindsOneOfAHundredAndFiftyOnAMachineThatOthersUse) {
  Machine machine;
  machine.round = 0.012;
  int wolf = 0, found = 0, apart = 0;
  for (int i = 0; i < 50; ++i) {
    wolf += code_of(machine.in_turns(30, 0, 1)) == kExitFailed ? 1 : 0;
    std::vector<Comparison> slow = machine.in_turns(30, 1, 1.1);
    found += code_of(slow) == kExitFailed ? 1 : 0;
    for (Comparison& c : slow) {
      c.paired = false;
      c.next_roof = c.base_roof;
    }
    apart += code_of(slow) == kExitFailed ? 1 : 0;
  }
  EXPECT_LE(wolf, 2);
  EXPECT_GE(found, 45);
  EXPECT_LE(apart, 5) << "which without pairs nobody can";
}

TEST(Gate, DriftIsThatOfCasesNotInTurns) {
  Machine machine;
  std::vector<Comparison> mixed = machine.in_turns(30, 150, 1.15);
  for (size_t i = 100; i < mixed.size(); ++i) mixed[i].paired = false;
  judge(mixed, kMargin);
  EXPECT_NEAR(drift_of(mixed, "cpu"), std::log(1.2), 0.01);
  EXPECT_EQ(mixed[0].verdict, Verdict::slower);
  EXPECT_NE(mixed[149].verdict, Verdict::slower);
}

TEST(Gate, DoesNotBlameTheBuildForAMachineThatIsSlower) {
  Machine machine;
  for (int i = 0; i < 10; ++i) {
    std::vector<Comparison> all = machine.runs(10, 0, 1, 1.2);
    judge(all, kMargin);
    EXPECT_EQ(gate_code(all, kMargin), kExitAmbiguous);
    EXPECT_NEAR(drift_of(all, "cpu"), std::log(1.2), 0.01);
  }
  EXPECT_EQ(code_of(machine.runs(10, 20, 1.5, 1.2)), kExitAmbiguous)
      << "nor for what it does to a case";
  int found = 0;
  for (int i = 0; i < 50; ++i) found += code_of(machine.runs(10, 20, 1.15, 1.03)) == kExitFailed;
  EXPECT_GE(found, 45) << "but sees through a little";
}

TEST(Gate, SaysSameOnlyWhereTheIntervalLiesWithin) {
  Machine machine{.round = 0.005, .disturbed = 0};
  std::vector<Comparison> quiet = machine.runs(10, 0, 1);
  judge(quiet, kMargin);
  EXPECT_EQ(gate_code(quiet, kMargin), kExitGood);
  EXPECT_EQ(quiet[0].verdict, Verdict::same);
  machine.round = 0.2;
  std::vector<Comparison> loud = machine.runs(10, 0, 1);
  judge(loud, kMargin);
  EXPECT_EQ(gate_code(loud, kMargin), kExitAmbiguous);
}

TEST(Interval, HoldsAFurtherRoundNineTimesInTen) {
  Machine machine{.run = 0, .disturbed = 0};
  for (int count : {3, 8, 20}) {
    int held = 0;
    for (int i = 0; i < 2000; ++i) {
      const Interval interval = interval_of(machine.rounds(count, 1));
      const double further = machine.rounds(1, 1)[0];
      held += interval.low <= further && further <= interval.high ? 1 : 0;
    }
    EXPECT_NEAR(held / 2000.0, 0.9, 0.03) << count << " rounds";
  }
}

// --- Documents

json result(const std::string& device, double seconds, const std::string& rung = "naive") {
  return {{"operation", "transpose"},
          {"function", nullptr},
          {"map", nullptr},
          {"axis", nullptr},
          {"dtype", "f32"},
          {"result_dtype", "f32"},
          {"shape", {64, 64}},
          {"batch", 1},
          {"layout", "rr"},
          {"values", "uniform"},
          {"parameters", json::object()},
          {"device", device},
          {"requested", nullptr},
          {"rung", rung},
          {"memory", "resident"},
          {"method", "single"},
          {"verified", true},
          {"failure", nullptr},
          {"skipped", false},
          {"rounds", std::vector<double>(10, seconds)},
          {"roof", {{"rounds", std::vector<double>(10, 1e9)}}}};
}
json document(const std::vector<json>& results, const std::string& cpu = "a cpu") {
  return {
      {"schema", 1},
      {"host", {{"cpu", cpu}, {"cores", 2}, {"os", "an os"}, {"gpus", json::array()}}},
      {"devices",
       {{{"devices", {{{"id", "cpu"}, {"name", cpu}, {"driver", "d"}, {"compute_units", 2}}}}}}},
      {"results", results}};
}

std::vector<Comparison> judged(const json& base, const json& next, bool across = false) {
  std::vector<Comparison> all = compared(base, next, across);
  judge(all, kMargin);
  return all;
}
std::string refusal(const json& base, const json& next) {
  try {
    compared(base, next, false);
  } catch (const Refusal& refused) { return refused.what(); }
  return {};
}

TEST(Verdicts, FollowTheRounds) {
  const json base = document({result("cpu", 1e-3)});
  EXPECT_EQ(judged(base, base)[0].verdict, Verdict::same);
  EXPECT_EQ(judged(base, document({result("cpu", 1.1e-3)}))[0].verdict, Verdict::slower);
  EXPECT_EQ(judged(base, document({result("cpu", 1.04e-3)}))[0].verdict, Verdict::same);
  EXPECT_EQ(judged(base, document({result("cpu", 0.9e-3)}))[0].verdict, Verdict::faster);
}

TEST(Verdicts, ARungThatChangedIsTheSameCaseAndSaidSo) {
  const auto all = judged(document({result("cpu", 1e-3)}), document({result("cpu", 1e-3, "tile")}));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].note, HasSubstr("naive became tile"));
}

TEST(Verdicts, AWrongResultIsNoFigure) {
  json wrong = result("cpu", 1e-9);
  wrong["verified"] = false;
  wrong["failure"] = "3 of 4 differ";
  const auto all = judged(document({result("cpu", 1e-3)}), document({wrong}));
  EXPECT_EQ(all[0].verdict, Verdict::failed);
  EXPECT_EQ(gate_code(all, kMargin), kExitFailed);
  const std::vector<json> both{result("cpu", 1e-3), result("opencl:0", 1e-3)};
  std::vector<json> broken = both;
  broken[0] = wrong;
  EXPECT_EQ(judged(document(broken), document(both))[0].verdict, Verdict::missing);
}

TEST(Verdicts, WhatOneSideLacksIsListed) {
  const std::vector<json> two{result("cpu", 1e-3), result("opencl:0", 1e-3)};
  for (const auto& all :
       {judged(document(two), document({two[0]})), judged(document({two[0]}), document(two))}) {
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].verdict, Verdict::missing);
    EXPECT_EQ(gate_code(all, kMargin, true), kExitGood);
  }
  // A build that lost a case is no good build; one that has more is.
  EXPECT_EQ(gate_code(judged(document(two), document({two[0]})), kMargin), kExitAmbiguous);
  EXPECT_EQ(gate_code(judged(document({two[0]}), document(two)), kMargin), kExitGood);
}

TEST(Verdicts, StridesAndOffsetsMakeACase) {
  json moved = result("cpu", 2e-3);
  moved["strides"] = {3, 1};
  const auto all =
      judged(document({result("cpu", 1e-3), moved}), document({result("cpu", 1e-3), moved}));
  EXPECT_EQ(all.size(), 2U);
  EXPECT_THAT(refusal(document({moved, moved}), document({moved})),
              HasSubstr("two results of one case"));
}

TEST(Verdicts, RoundsAreInPairsWhereBothRunsHaveThem) {
  const auto turns = [](const std::string& id, const std::vector<json>& results,
                        bool partial = false) {
    json all = document(results);
    all["turns"] = {{"id", id}, {"of", 2}, {"place", 0}};
    all["partial"] = partial;
    return all;
  };
  const json whole = result("cpu", 1e-3), other = result("opencl:0", 1e-3);
  json early = whole, gap = whole;
  early["rounds"] = std::vector<double>(9, 1e-3);
  gap["rounds"] = std::vector<double>(7, 1e-3);
  const auto paired = [](const json& base, const json& next) {
    return judged(base, next)[0].paired;
  };
  EXPECT_TRUE(paired(turns("1", {whole, other}), turns("1", {whole, other})));
  EXPECT_THAT(refusal(turns("1", {whole, other}), turns("2", {whole, other})),
              HasSubstr("not with each other"));
  EXPECT_FALSE(paired(turns("1", {whole, other}), document({whole, other})));
  EXPECT_FALSE(paired(turns("1", {gap, other}), turns("1", {gap, other}))) << "of which rounds?";
  const auto ended = judged(turns("1", {whole, other}), turns("1", {early, other}, true));
  EXPECT_TRUE(ended[0].paired);
  EXPECT_EQ(ended[0].base.size(), 9U);
}

TEST(Verdicts, ANoteTellsWhichWayTheDeviceWent) {
  json fast = result("cpu", 1.5e-3);
  fast["roof"]["rounds"] = std::vector<double>(10, 1.2e9);
  EXPECT_THAT(judged(document({result("cpu", 1e-3)}), document({fast}))[0].note,
              HasSubstr("% faster"));
}

TEST(Verdicts, OtherMachinesAreRefusedUnlessAsked) {
  const json base = document({result("cpu", 1e-3)});
  const json other = document({result("cpu", 1e-3)}, "another cpu");
  EXPECT_THAT(refusal(base, other), HasSubstr("another cpu"));
  EXPECT_EQ(judged(base, other, true)[0].verdict, Verdict::same);
  json driver = base;
  driver["devices"][0]["devices"][0]["driver"] = "e";
  EXPECT_THAT(refusal(base, driver), HasSubstr("driver"));
}

TEST(Verdicts, WhatIsNoComparisonIsRefused) {
  const json base = document({result("cpu", 1e-3)});
  EXPECT_THAT(refusal(base, json::array()), HasSubstr("--rounds"));
  EXPECT_THAT(refusal(base, document({})), HasSubstr("no case"));
  json one = result("cpu", 1e-3);
  one["rounds"] = {1e-3};
  EXPECT_THAT(refusal(document({one}), document({one})), HasSubstr("one round"));
}

TEST(Rounds, AreCombinedByCase) {
  Result first;
  first.device = "cpu";
  first.problem.operation = Operation::transpose;
  first.problem.layout = "rr";
  first.problem.size = {64, 64, 0};
  first.verified = true;
  first.kernel = 1;
  first.rounds = {1};
  first.samples = 5;
  Result second = first, third = first;
  second.kernel = 2;
  second.rounds = {2};
  third.kernel = 10;
  third.rounds = {10};
  std::vector<Result> all = combined({{first}, {second}, {third}});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_DOUBLE_EQ(*all[0].kernel, 2);
  EXPECT_EQ(all[0].rounds, (std::vector<double>{1, 2, 10}));
  EXPECT_EQ(all[0].samples, 15);
  EXPECT_TRUE(all[0].verified);
  EXPECT_LT(all[0].interval.low, 1);
  Result repeated = first;
  repeated.method = "sustained";
  EXPECT_EQ(combined({{first, repeated}, {second}}).size(), 1U) << "not in each round";
  EXPECT_EQ(combined({{first, repeated}, {}}).size(), 2U) << "a round that ended before";
  second.digest = 7;
  EXPECT_FALSE(combined({{first}, {second}})[0].verified) << "the bits changed";
  third.verified = false;
  third.failure = "wrong";
  EXPECT_EQ(combined({{first}, {third}})[0].failure, "wrong");
}

}  // namespace
}  // namespace trine::bench
