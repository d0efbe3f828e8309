// The list of cases covers what it promises, and its golden digests are the oracle's.
#include <gtest/gtest.h>

#include <set>

#include "conformance/case.hpp"
#include "conformance/goldens.hpp"
#include "oracle/bits.hpp"

namespace trine::conformance {
namespace {

TEST(cases, have_unique_names_and_seeds) {
  std::set<std::string> names;
  for (const Case& c : all_cases()) EXPECT_TRUE(names.insert(c.name).second) << c.name;
  EXPECT_GE(names.size(), 9000u);
}

using Combination = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;

TEST(cases, cover_every_function_map_dtype_and_axis) {
  std::set<Combination> seen;
  for (const Case& c : all_cases())
    if (const auto* r = std::get_if<trine_reduce>(&c.plan))
      seen.insert({r->function, r->map, r->dtype, r->axis});
  EXPECT_EQ(seen.size(), ((6u * 2 + 1) * 6 + 2) * 3);  // products of two inputs: f32 and f64
}

TEST(cases, put_every_value_class_and_dtype_on_every_rung) {
  std::set<std::tuple<size_t, std::string, std::string>> seen;
  for (const Case& c : all_cases())
    if (c.rungs == Rungs::kLadder)
      seen.insert({c.plan.index(), c.dtype, oracle::name_of(c.values)});
  for (oracle::Values values : oracle::all_values())
    for (const char* dtype : {"f32", "f64"}) {
      EXPECT_TRUE(seen.contains({0, dtype, oracle::name_of(values)})) << oracle::name_of(values);
      EXPECT_TRUE(seen.contains({2, dtype, oracle::name_of(values)})) << oracle::name_of(values);
    }
  for (oracle::Values values : oracle::product_values())
    for (const char* dtype : {"f32", "f64"})
      EXPECT_TRUE(seen.contains({2, dtype, oracle::name_of(values)})) << oracle::name_of(values);
  for (const char* dtype : {"b8", "b16", "b32", "b64", "b128"})
    EXPECT_TRUE(seen.contains({1, dtype, "uniform"})) << dtype;
}

TEST(cases, reach_beyond_2_to_the_31) {
  bool elements = false, addresses = false;
  for (const Case& c : all_cases()) {
    oracle::Operation plan = c.plan;
    const trine_view& v = *oracle::operands(plan).front().view;
    elements |= v.rows * v.cols > int64_t{1} << 31;
    addresses |= (v.rows - 1) * v.row_stride > int64_t{1} << 29;
  }
  EXPECT_TRUE(elements);
  EXPECT_TRUE(addresses);
}

TEST(goldens, are_what_the_oracle_finds) {
  EXPECT_EQ(golden_count(), all_cases().size()) << "write them again: target goldens";
  for (const Case& c : all_cases()) EXPECT_EQ(golden(c.name), digest_of(c)) << c.name;
}

}  // namespace
}  // namespace trine::conformance
