// The gate's statistics on timings as noisy machines make them, from a fixed seed: how often it cries
// wolf, how often it misses one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "bench/gate/regression.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

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

/// How many of `times` pairs of runs fail, of which `slow` cases are 10 % slower.
int failures(Machine machine, int times, int rounds_each, int slow) {
  int failed = 0;
  for (int i = 0; i < times; ++i)
    failed += code_of(machine.runs(rounds_each, slow, 1.1)) == kExitFailed ? 1 : 0;
  return failed;
}

TEST(Gate, CriesWolfInAtMostOneOfTwentyRuns) { EXPECT_LE(failures({}, 100, 10, 0), 5); }

TEST(Gate, FindsOneCaseOfAHundredAndFiftyTenPercentSlower) {
  EXPECT_GE(failures({.round = 0.012}, 50, 15, 1), 45);
}

TEST(Gate, FindsTenPercentInTenCasesAlsoOnANoisyMachine) {
  EXPECT_GE(failures({.round = 0.025}, 50, 10, 10), 45);
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

TEST(Gate, TellsNothingOfADeviceThatItselfChanged) {
  Machine machine{.run = 0, .round = 0.005, .disturbed = 0};
  const auto all_ambiguous = [](std::vector<Comparison> all) {
    judge(all, kMargin);
    for (const Comparison& c : all)
      if (c.verdict != Verdict::ambiguous || c.note.empty()) return false;
    return gate_code(all, kMargin) == kExitAmbiguous;
  };
  // The build took back what the machine gave: the times are equal, or even shorter.
  EXPECT_TRUE(all_ambiguous(machine.runs(15, 150, 1.2, 1 / 1.2)));
  EXPECT_TRUE(all_ambiguous(machine.runs(15, 150, 1.1, 1 / 1.2)));
  EXPECT_TRUE(all_ambiguous(machine.runs(15, 150, 1 / 1.2, 1.2)));
}

TEST(Gate, ForetellsTheRoundsThatMakeAnUnchangedCaseTheSame) {
  Machine machine{.run = 0, .round = 0.07, .disturbed = 0};
  std::vector<Comparison> few = machine.runs(15, 0, 1);
  judge(few, kMargin);
  double needed = 0;
  for (const Comparison& c : few) needed += rounds_for_same(c, kMargin) / double(few.size());
  std::vector<Comparison> enough = machine.runs(int(std::ceil(needed)), 0, 1);
  judge(enough, kMargin);
  const auto same = [](const std::vector<Comparison>& all) {
    return std::count_if(all.begin(), all.end(),
                         [](const Comparison& c) { return c.verdict == Verdict::same; });
  };
  EXPECT_LT(same(few), 75);
  EXPECT_NEAR(double(same(enough)), 135, 10) << needed << " rounds";
  std::vector<Comparison> two = machine.runs(2, 0, 1);
  judge(two, kMargin);
  EXPECT_EQ(rounds_for_same(two[0], kMargin), 0) << "which tell nothing";
}

TEST(Gate, SaysSameOnlyWhereTheIntervalLiesWithin) {
  Machine machine{.round = 0.005, .disturbed = 0};
  std::vector<Comparison> quiet = machine.runs(10, 0, 1);
  judge(quiet, kMargin);
  EXPECT_EQ(gate_code(quiet, kMargin), kExitGood);
  EXPECT_EQ(quiet[0].verdict, Verdict::same);
  Machine usual{.round = 0.01};
  int good = 0;
  for (int i = 0; i < 20; ++i) good += code_of(usual.runs(15, 0, 1)) == kExitGood ? 1 : 0;
  EXPECT_GE(good, 18) << "fifteen rounds that vary by 1 %";
  machine.round = 0.2;
  std::vector<Comparison> loud = machine.runs(10, 0, 1);
  judge(loud, kMargin);
  EXPECT_EQ(gate_code(loud, kMargin), kExitAmbiguous);
}

}  // namespace
}  // namespace trine::bench
