// The gate's verdicts on two documents: what is a case, what is a figure, what is no comparison at all.
#include "bench/gate/regression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

using json = nlohmann::ordered_json;
using ::testing::HasSubstr;

const double kMargin = std::log1p(0.05);

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
          {"seconds", json::object()},
          {"rate", {{"value", 1e9}}},
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

TEST(Verdicts, AWrongResultCountsWhereTheBaselineHasNoSuchFigure) {
  json repeated = result("cpu", 19e-6);
  repeated["method"] = "sustained";
  const json base = document({result("cpu", 20e-6)});
  EXPECT_EQ(judged(base, document({result("cpu", 20e-6), repeated})).size(), 1U);
  repeated["verified"] = false;
  repeated["failure"] = "other bits";
  const std::vector<Comparison> all = judged(base, document({result("cpu", 20e-6), repeated}));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].verdict, Verdict::failed);
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

TEST(Verdicts, WhatWasAskedForMakesACase) {
  json plain = result("cpu", 1e-3);
  plain.update({{"operation", "gemm"}, {"shape", {64, 64, 64}}, {"layout", "rrr"}});
  json accurate = plain;
  accurate["asked"] = "accurate";
  const auto all = judged(document({plain, accurate}), document({plain, accurate}));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[0].name, HasSubstr("gemm f32 64x64x64 accurate on cpu"));
  EXPECT_THAT(refusal(document({plain}), document({accurate})),
              HasSubstr("no case with figures in both"));
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

}  // namespace
}  // namespace trine::bench
