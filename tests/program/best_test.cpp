// Tests of the configurations that a sweep tries, and of when a gain counts as one.
#include "bench/timing/best.hpp"

#include <gtest/gtest.h>

#include <array>

#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

RungInfo tiled() {
  RungInfo rung;
  rung.name = "tiled";
  rung.parameters = {{"tile", {"8", "16"}, "16"}, {"finish", {"atomic", "two"}, "two"}};
  return rung;
}

Result result(double seconds, double spread, const char* method = "single") {
  Result made;
  made.kernel = seconds;
  made.spread = spread;
  made.method = method;
  made.verified = true;
  return made;
}

TEST(Configurations, AreEveryCombination) {
  RungInfo plain;
  plain.name = "naive";
  EXPECT_EQ(configurations(plain), std::vector<std::string>{"naive"});
  EXPECT_EQ(configurations(tiled()),
            (std::vector<std::string>{"tiled:tile=8,finish=atomic", "tiled:tile=8,finish=two",
                                      "tiled:tile=16,finish=atomic", "tiled:tile=16,finish=two"}));
}

TEST(Configurations, StandStillWhereTheyAreSettled) {
  EXPECT_EQ(configurations(tiled(), "finish=two"),
            (std::vector<std::string>{"tiled:tile=8,finish=two", "tiled:tile=16,finish=two"}));
  EXPECT_EQ(configurations(tiled(), "finish=two,tile=8"),
            std::vector<std::string>{"tiled:tile=8,finish=two"});
  for (const char* bad : {"tile=9", "tiles=8", "tile", "=8", "tile=8,finish=three"})
    EXPECT_THROW(configurations(tiled(), bad), Refusal) << bad;
}

TEST(Figure, IsOfOneMethodWhereEverythingIsRight) {
  std::vector<Result> results{result(2, 0), result(1, 0, "sustained")};
  EXPECT_EQ(*figure_of(results, "sustained")->kernel, 1);
  EXPECT_EQ(*figure_of(results, "single")->kernel, 2);
  EXPECT_EQ(figure_of({result(2, 0)}, "sustained"), nullptr);
  results[0].verified = false;
  EXPECT_EQ(figure_of(results, "sustained"), nullptr);
  EXPECT_EQ(figure_of({}, "single"), nullptr);
  Result refused;
  refused.skipped = true;
  EXPECT_EQ(figure_of({refused}, "single"), nullptr);
}

TEST(Method, IsNeverMixed) {
  Result refused;
  refused.skipped = true;
  const std::vector<Result> both{result(2, 0), result(1, 0, "sustained")}, one{result(2.1, 0)},
      none{refused};
  EXPECT_EQ(common_method(std::array{both, both}), "sustained");
  EXPECT_EQ(common_method(std::array{both, one}), "single");
  EXPECT_EQ(common_method(std::array{one, both}), "single");
  EXPECT_EQ(common_method(std::array{both, none}), "sustained") << "a refusal has no say";
}

TEST(MayBeChosen, NeverMovesAPromise) {
  using enum Numerics;
  EXPECT_TRUE(may_be_chosen(reproducible, reproducible));
  EXPECT_TRUE(may_be_chosen(reproducible, fast));
  EXPECT_TRUE(may_be_chosen(fast, fast));
  EXPECT_FALSE(may_be_chosen(fast, reproducible));
  for (const Numerics never : {study, vendor}) {
    EXPECT_FALSE(may_be_chosen(never, reproducible));
    EXPECT_FALSE(may_be_chosen(never, fast));
  }
}

TEST(Gain, IsMoreThanTheRoundsAndTheirSpreadExplain) {
  const Result slow = result(1.0, 0.02), fast = result(0.9, 0.02), between = result(0.95, 0.02);
  EXPECT_TRUE((Rounds{{fast, fast, fast}, {slow, slow, slow}}.is_gain()));
  EXPECT_FALSE((Rounds{{fast, fast, slow}, {slow, slow, slow}}.is_gain())) << "one round says no";
  EXPECT_FALSE((Rounds{{fast, fast, fast}, {slow, fast, slow}}.is_gain()));
  EXPECT_TRUE((Rounds{{fast, fast, between}, {slow, slow, slow}}.is_gain()));
  const Result vague = result(0.9, 0.2);
  EXPECT_FALSE((Rounds{{vague, vague, vague}, {slow, slow, slow}}.is_gain()));
  EXPECT_FALSE((Rounds{{slow, slow, slow}, {slow, slow, slow}}.is_gain()));
  const Rounds rounds{{fast, slow, between}, {slow, slow, slow}};
  EXPECT_EQ(rounds.challenger_seconds(), 0.95);
  EXPECT_EQ(rounds.standing_seconds(), 1.0);
}

}  // namespace
}  // namespace trine::bench
