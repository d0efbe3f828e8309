// Chunks bring, compute and take back what the whole would: the same bits for every device, operation,
// way, number of chunks and class of values, also where the chunks' sums don't settle the rounding.
#include <gtest/gtest.h>
#include <trine/abi.h>

#include <cmath>

#include "bench/timing/roofline.hpp"
#include "bench/transfer/pipeline.hpp"
#include "bench/transfer/ways.hpp"

namespace trine::bench {
namespace {

std::vector<Device> all_devices() {
  std::vector<Device> all;
  for (const Facts& facts : devices()) all.push_back(open(facts.id));
  return all;
}

Problem a_problem(Operation operation, Dtype dtype, Size size, Function function = Function::sum,
                  const std::string& values = "uniform") {
  Problem p = bench::problem_of(operation, dtype, size, function);
  p.values = values;
  return p;
}

/// One pass over each window; returns how many had to sum the whole again.
int pass(const Device& device, const Problem& problem, const Way& way) {
  Expectation expectation(problem, 3);
  Pipeline pipeline(device, problem, expectation, way);
  int again = 0;
  for (int w = 0; w < expectation.windows(); ++w) {
    const Pass done = pipeline.once(w);
    again += done.again;
    EXPECT_EQ(expectation.check(w, pipeline.output(), Numerics::reproducible), "")
        << device.id() << " " << to_string(problem) << " " << way.memory << " in " << way.chunks;
    const Timeline timeline{.problem = problem,
                            .device = device.id(),
                            .memory = way.memory,
                            .seconds = done.seconds,
                            .spans = done.spans};
    EXPECT_EQ(impossible(timeline), "") << device.id() << " " << to_string(problem);
    EXPECT_TRUE(uses(done.spans, Lane::kernel));
    EXPECT_EQ(uses(done.spans, Lane::cpu), way.cpu_rows != 0);
  }
  return again;
}

TEST(Chunks, GiveTheSameBits) {
  const Problem problems[] = {
      a_problem(Operation::transpose, Dtype::f32, {131, 67, 0}),
      a_problem(Operation::transpose, Dtype::b8, {7, 301, 0}),
      a_problem(Operation::gemm, Dtype::f64, {67, 45, 33}),
      a_problem(Operation::gemm, Dtype::i32, {130, 31, 17}),
      a_problem(Operation::reduce, Dtype::i32, {10007, 1, 0}),
      a_problem(Operation::reduce, Dtype::u64, {10007, 1, 0}, Function::max),
      a_problem(Operation::reduce, Dtype::f32, {10007, 1, 0}, Function::min, "nan"),
  };
  for (const Device& device : all_devices())
    for (const Problem& problem : problems)
      for (const Way& way : {Way{"pageable"}, Way{"pinned"}, Way{"pipelined", 1},
                             Way{"pipelined", 2}, Way{"pipelined", 7}})
        pass(device, problem, way);
}

TEST(Chunks, SumFloatsToTheSameBitsWhateverTheirValues) {
  for (const Device& device : all_devices())
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      if (!(device.facts().capabilities & TRINE_CAN_F64)) continue;
      for (const oracle::Values values : oracle::all_values())
        for (const int chunks : {1, 2, 7})
          pass(device,
               a_problem(Operation::reduce, dtype, {5003, 1, 0}, Function::sum,
                         oracle::name_of(values)),
               {"pipelined", chunks});
    }
}

TEST(Chunks, SumAgainOnlyWhatTheyMust) {
  for (const Device& device : all_devices()) {
    if (!(device.facts().capabilities & TRINE_CAN_F64)) continue;
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      EXPECT_EQ(
          pass(device, a_problem(Operation::reduce, dtype, {1 << 20, 1, 0}), {"pipelined", 5}), 0);
      EXPECT_GT(
          pass(device, a_problem(Operation::reduce, dtype, {5003, 1, 0}, Function::sum, "cancel"),
               {"pipelined", 5}),
          0);
    }
  }
}

TEST(Chunks, InPlaceWhereMemoryIsShared) {
  for (const Device& device : all_devices()) {
    if (!in_place(device)) continue;
    pass(device, a_problem(Operation::transpose, Dtype::f64, {131, 67, 0}), {"shared"});
    pass(device, a_problem(Operation::reduce, Dtype::f32, {10007, 1, 0}), {"shared"});
    EXPECT_EQ(ways_of(device).back().memory, "shared");
  }
}

TEST(Chunks, TheCpuTakesItsPart) {
  for (const Device& device : all_devices()) {
    pass(device, a_problem(Operation::transpose, Dtype::f32, {131, 67, 0}), {"pipelined", 3, 32});
    pass(device, a_problem(Operation::gemm, Dtype::f32, {131, 40, 30}), {"pipelined", 3, 64});
    for (const Dtype dtype : {Dtype::i32, Dtype::u32, Dtype::i64})
      pass(device, a_problem(Operation::reduce, dtype, {10007, 1, 0}), {"pipelined", 3, 1024});
    pass(device, a_problem(Operation::reduce, Dtype::i32, {10007, 1, 0}, Function::min),
         {"pipelined", 3, 9000});
    if (!(device.facts().capabilities & TRINE_CAN_F64)) continue;
    for (const char* values : {"uniform", "cancel", "nan"})
      pass(device, a_problem(Operation::reduce, Dtype::f32, {10007, 1, 0}, Function::sum, values),
           {"pipelined", 3, 4096});
    Expectation expectation(a_problem(Operation::reduce, Dtype::f64, {10007, 1, 0}), 1);
    EXPECT_THROW(Pipeline(device, a_problem(Operation::reduce, Dtype::f64, {10007, 1, 0}),
                          expectation, {"pipelined", 3, 1024}),
                 std::runtime_error);
  }
}

TEST(CertainSum, SaysNothingRatherThanSomethingWrong) {
  const auto sum = [](std::vector<double> parts, double error, Dtype dtype) {
    return certain_sum(parts, error, dtype);
  };
  const double half = std::ldexp(1.0, -53), tiny = std::ldexp(1.0, -80);
  EXPECT_EQ(sum({1, tiny}, tiny, Dtype::f64), 1.0);
  EXPECT_EQ(sum({1, half, tiny}, 0, Dtype::f64), 1 + 2 * half);
  EXPECT_EQ(sum({1, half}, 0, Dtype::f64), std::nullopt);  // a tie
  EXPECT_EQ(sum({1, half, tiny}, 2 * tiny, Dtype::f64), std::nullopt);
  EXPECT_EQ(sum({1, -half / 2}, 0, Dtype::f64), std::nullopt);  // below 1 the gap is half as wide
  EXPECT_EQ(sum({1, -half / 4}, 0, Dtype::f64), 1.0);
  // Rounded twice, to f64 and to f32, this would be 1.
  EXPECT_EQ(sum({1 + std::ldexp(1.0, -24), std::ldexp(1.0, -60)}, 0, Dtype::f32), std::nullopt);
  EXPECT_EQ(sum({1 + std::ldexp(1.0, -24), std::ldexp(1.0, -40)}, 0, Dtype::f32),
            1 + std::ldexp(1.0, -23));
  EXPECT_EQ(sum({0.0, -0.0}, 0, Dtype::f64), std::nullopt);
  EXPECT_EQ(sum({1, -1}, 1e-30, Dtype::f32), std::nullopt);
  EXPECT_EQ(sum({INFINITY, 1}, 0, Dtype::f64), std::nullopt);
  EXPECT_EQ(sum({NAN, 1}, 0, Dtype::f32), std::nullopt);
}

TEST(Balance, EndsBothAtOnce) {
  const Problem p = a_problem(Operation::transpose, Dtype::f32, {4096, 64, 0});
  EXPECT_EQ(balanced_rows(p, 4, 1, 1), 2048);
  EXPECT_EQ(balanced_rows(p, 4, 1, 3), 1024);  // three times as slow: a quarter of the rows
  EXPECT_EQ(balanced_rows(p, 4, 1e-9, 1), 0);
  EXPECT_EQ(balanced_rows(p, 4, 1, 1e-9), 4096 - 32);  // the device keeps a part
  EXPECT_EQ(balanced_rows(a_problem(Operation::transpose, Dtype::f32, {3, 64, 0}), 4, 1, 1), 0);
}

TEST(Roofline, CountsAsTheDocumentsDo) {
  const Problem sum = a_problem(Operation::reduce, Dtype::f32, {1 << 20, 1, 0});
  EXPECT_NEAR(intensity(sum), 0.25, 1e-5);  // one addition an element
  EXPECT_EQ(intensity(a_problem(Operation::transpose, Dtype::f32, {64, 64, 0})), 0);
  const Problem gemm = a_problem(Operation::gemm, Dtype::f64, {1024, 1024, 1024});
  EXPECT_NEAR(intensity(gemm), 2 * 1024.0 / (3 * 8), 1e-9);
  // 002's K80: 1370 GFLOP/s, 240 GB/s, a ridge of 45.6 flop a double.
  const std::vector<DeviceRoof> roofs = {
      {"cuda:0", "copy", std::nullopt, "", 154e9, "B/s", 240e9},
      {"cuda:0", "fma", Dtype::f64, "", 1200e9, "flop/s", 1370e9},
      {"cuda:0", "tensor", Dtype::f64, "", 1300e9, "flop/s", std::nullopt}};
  EXPECT_NEAR(nominal_ceilings(roofs, gemm).ridge() * 8, 45.67, 0.01);
  EXPECT_DOUBLE_EQ(measured_ceilings(roofs, gemm).arithmetic, 1300e9);
  EXPECT_DOUBLE_EQ(measured_ceilings(roofs, gemm).at(gemm), 1300e9);
  const Problem thin = a_problem(Operation::gemm, Dtype::f64, {1024, 1024, 1});
  EXPECT_NEAR(nominal_ceilings(roofs, thin).at(thin), 240e9 * intensity(thin), 1);
  EXPECT_DOUBLE_EQ(measured_ceilings(roofs, a_problem(Operation::transpose, Dtype::f64, {8, 8, 0}))
                       .at(a_problem(Operation::transpose, Dtype::f64, {8, 8, 0})),
                   154e9);
  EXPECT_EQ(measured_ceilings({}, gemm).at(gemm), 0);
}

}  // namespace
}  // namespace trine::bench
