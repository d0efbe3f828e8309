// How long work ends early, and the exit code that comes of it.
#include "bench/ui/control.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "bench/timing/side_by_side.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

TEST(Control, SaysOfCtrlCAndTheLimitTogetherThatItWasInterrupted) {
  Control control(1e-6);
  usleep(1000);
  std::raise(SIGINT);
  EXPECT_TRUE(control.stop());
  EXPECT_EQ(control.why(), "interrupted");
  EXPECT_TRUE(control.interrupted());
  EXPECT_EQ(ended(control, Outcome::good), kExitInterrupted);
}

TEST(Control, StaysWithItsFirstReason) {
  Control control(1e-6);
  usleep(1000);
  EXPECT_TRUE(control.stop());
  std::raise(SIGINT);
  EXPECT_TRUE(control.stop());
  EXPECT_EQ(control.why(), "the time limit of 1e-06 s is up");
  EXPECT_FALSE(control.interrupted());
  EXPECT_EQ(ended(control, Outcome::good), kExitGood);
}

TEST(Control, NothingIsNoSuccess) {
  Control control;
  EXPECT_FALSE(control.stop());
  EXPECT_EQ(ended(control, Outcome::nothing), kExitFailed);
  std::raise(SIGINT);
  EXPECT_EQ(ended(control, Outcome::good), kExitGood) << "the work had ended by itself";
  EXPECT_TRUE(control.stop());
  EXPECT_EQ(ended(control, Outcome::nothing), kExitInterrupted);
  EXPECT_EQ(ended(control, Outcome::failed), kExitFailed);
}

TEST(Control, AnOutcomeIsThatOfAllResults) {
  Result right, wrong, refused;
  right.verified = true;
  refused.skipped = true;
  EXPECT_EQ(outcome_of({}), Outcome::nothing);
  EXPECT_EQ(outcome_of({}, true), Outcome::good) << "roofs alone";
  EXPECT_EQ(outcome_of({refused}, true), Outcome::nothing);
  EXPECT_EQ(outcome_of({refused, right}), Outcome::good);
  EXPECT_EQ(outcome_of({right, wrong}), Outcome::failed);
}

}  // namespace
}  // namespace trine::bench
