// Conformance under ctest: every case on every device and rung, and proof that a bogus name fails.
//
// TRINE_REQUIRE=cpu,opencl turns an absent backend into a failure. TRINE_VERIFY=quick runs the
// quick subset, on the cpu alone: for sanitizer builds, which see none of what a driver compiles.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "conformance/verify.hpp"

#include <trine/trine.hpp>

namespace trine::conformance {
namespace {

TEST(conformance, every_case_on_every_device_and_rung) {
  const char* choice = std::getenv("TRINE_VERIFY");
  Options options;
  options.quick = choice != nullptr && std::string(choice) == "quick";
  if (options.quick) options.devices = {"cpu"};
  if (!options.quick) options.require = required_by_environment();
  const Report report = verify(options);
  print(report, std::cout);
  EXPECT_TRUE(report.passed());
  EXPECT_GE(report.cases, options.quick ? 200 : 2000);
}

TEST(conformance, runs_where_and_what_it_was_asked_to) {
  Options options;
  options.devices = {"cpu"};
  options.rung = "naive";
  options.filter = "gemm f32 17x15x16 nn uniform";
  const Report report = verify(options);
  EXPECT_EQ(report.cases, 1);
  EXPECT_EQ(report.failed, 0);
  const std::map<std::string, int64_t> only_naive = {{"cpu gemm naive", 1}};
  EXPECT_EQ(report.classes.at("rung"), only_naive);
}

TEST(conformance, a_bogus_device_or_rung_fails) {
  Options device, rung;
  device.devices = {"abacus:0"};
  rung.rung = "no_such_rung";
  for (const Options& options : {device, rung}) {
    try {
      verify(options);
      FAIL() << "a device or rung that doesn't exist was verified";
    } catch (const Error& error) { EXPECT_EQ(error.status(), Status::not_found); }
  }
}

TEST(conformance, a_required_backend_that_is_absent_fails) {
  Options options;
  options.filter = "no case has this name";
  options.require = {"abacus"};
  const Report report = verify(options);
  EXPECT_EQ(report.failed, 1);
  EXPECT_FALSE(report.passed());
}

TEST(conformance, what_is_stopped_is_partial) {
  Options options;
  options.devices = {"cpu"};
  options.quick = true;
  int asked = 0;
  options.stop = [&] { return ++asked > 3; };
  const Report report = verify(options);
  EXPECT_TRUE(report.partial);
  EXPECT_GT(report.cases, 0);
  EXPECT_EQ(asked, 4);
  EXPECT_TRUE(report.passed());
  options.require = {"abacus"};
  EXPECT_FALSE(verify(options).passed()) << "a failure stays one";
  options.filter = "no case has this name";
  options.require = {};
  EXPECT_FALSE(verify(options).partial) << "nothing was left out";
}

TEST(conformance, zero_cases_is_a_failure) {
  Options options;
  options.filter = "no case has this name";
  EXPECT_FALSE(verify(options).passed());
  options.filter.clear();
  options.devices = {"cpu"};
  options.stop = [] { return true; };
  const Report report = verify(options);
  EXPECT_TRUE(report.partial);
  EXPECT_EQ(report.cases, 0);
  EXPECT_FALSE(report.passed());
}

}  // namespace
}  // namespace trine::conformance
