// Every device has roofs, and the GPU kernels that find them run on any OpenCL device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <trine/abi.h>

#include <cstdlib>

#include "bench/roofs/probes.hpp"
#include "bench/roofs/roof.hpp"
#include "bench/timing/result.hpp"

namespace trine::bench {
namespace {

constexpr Dtype kDtypes[] = {Dtype::f32, Dtype::f64};

TEST(Roofs, EveryDeviceHasThem) {
  for (const Facts& facts : devices()) {
    const Device device = open(facts.id);
    Problem problem;
    problem.operation = Operation::gemm;
    for (const Dtype dtype : kDtypes) {
      if (dtype == Dtype::f64 && !(device.facts().capabilities & TRINE_CAN_F64)) continue;
      problem.dtype = dtype;
      const Roof roof = roof_of(device, problem);
      EXPECT_GT(roof.value, 0) << device.id() << " " << name(dtype);
      EXPECT_EQ(roof.unit, "flop/s");
      EXPECT_GE(roof_of(device, problem, 0, true).value, roof.value) << "the higher one is kept";
    }
    problem.dtype = Dtype::i32;  // units for 8-bit integers are faster than multiply-adds
    EXPECT_EQ(roof_of(device, problem).value, 0);
    problem.dtype = Dtype::f32;
    for (const Numerics numerics : {Numerics::exact, Numerics::fast}) {
      problem.numerics = numerics;
      EXPECT_EQ(roof_of(device, problem).value, 0) << name(numerics);
    }
  }
}

/// The sentence on a rate, with a roof that was measured as 1 Gflop/s or 1 GB/s.
std::string said_of(Operation operation, double rate, Result& result) {
  result.problem.operation = operation;
  result.problem.layout = operation == Operation::gemm ? "rrr" : "rr";
  result.problem.dtype = result.problem.result = Dtype::f32;
  result.problem.size = {256, 256, 256};
  result.rate = rate;
  result.roof = {1e9, operation == Operation::gemm ? "flop/s" : "B/s", "a busy machine's"};
  result.roofs = {1e9};
  const double seconds = work(result.problem) / rate;
  settle_roof(
      open("cpu"), 1 << 20, [&] { return seconds; }, result);
  return above_roof(open("cpu"), result);
}

TEST(Roofs, WhatIsAboveThemIsWrong) {
  for (const Operation operation : {Operation::gemm, Operation::transpose}) {
    Result result;
    EXPECT_THAT(said_of(operation, 1e17, result), ::testing::HasSubstr("above the measured roof"));
  }
}

TEST(Roofs, AreMeasuredAgainBeforeAFigureIsCalledWrong) {
  Result result;
  EXPECT_EQ(said_of(Operation::gemm, 1.5e9, result), "");
  EXPECT_GT(result.roof.value, 1.5e9);
  EXPECT_EQ(result.roofs, std::vector<double>{result.roof.value});
  EXPECT_EQ(said_of(Operation::transpose, 1.1e9, result), "") << "within the noise";
  EXPECT_EQ(result.roof.value, 1e9);
}

/// The result, where a launch takes `seconds` by now.
Result settled(Result result, double seconds, int& launches) {
  settle_roof(
      open("cpu"), 1 << 20,
      [&] {
        ++launches;
        return seconds;
      },
      result);
  return result;
}

TEST(Roofs, AFigureThatWasAboveThemIsMadeAgainInTurnsWithThem) {
  Result first;
  first.problem = problem_of(Operation::gemm, Dtype::f32, {256, 256, 256});
  first.roof = {1e9, "flop/s", "fma"};
  set_figure(first, {{work(first.problem) / 1e17}}, work(first.problem) / 1e17);
  int launches = 0;
  // The machine is slower than it was: the figure is that of now.
  const Result slower = settled(first, work(first.problem) / 5e8, launches);
  EXPECT_EQ(above_roof(open("cpu"), slower), "");
  EXPECT_NEAR(slower.rate, 5e8, 1);
  EXPECT_EQ(slower.samples, launches);
  EXPECT_GE(launches, kLeastSamples);
  EXPECT_EQ(slower.roofs, std::vector<double>{slower.roof.value});
  // It says the same again, so it lies.
  const Result same = settled(first, work(first.problem) / 1e17, launches);
  EXPECT_THAT(above_roof(open("cpu"), same), ::testing::HasSubstr("above the measured roof"));
  // A figure that isn't above its roof is left alone.
  launches = 0;
  first.roof.value = 1e18;
  EXPECT_EQ(settled(first, 1, launches).rate, first.rate);
  EXPECT_EQ(launches, 0);
}

TEST(Roofs, AreMeasuredOnWhatIsRequired) {
  const char* required = std::getenv("TRINE_REQUIRE");
  for (const BackendInfo& backend : backends())
    if (required && std::string(required).find(backend.name) != std::string::npos) {
      EXPECT_FALSE(backend.devices.empty()) << backend.name << ": " << backend.reason;
    }
}

TEST(Roofs, TheKernelsForGpusRunOnAnyOpenclDevice) {
  for (const BackendInfo& backend : backends()) {
    if (backend.name != "opencl") continue;
    for (const Facts& facts : backend.devices)
      for (const Dtype dtype : kDtypes) {
        if (dtype == Dtype::f64 && !(facts.capabilities & TRINE_CAN_F64)) continue;
        EXPECT_GT(gpu_unit_rate(open(facts.id), dtype, "fma"), 1e8)
            << facts.id << " " << name(dtype);
      }
  }
}

}  // namespace
}  // namespace trine::bench
