// Calls on host data give the same bits whichever way they go: for every device and operation,
// whatever number of chunks, also where the cpu computes a part; and their traces are possible.
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/timing/roofline.hpp"
#include "bench/transfer/modes.hpp"

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

/// One call on each window.
void pass(const Device& device, const Problem& problem, const TransferMode& way) {
  Expectation expectation(problem, 3);
  const bool pinned = way.memory == "pinned" || way.memory == "pipelined";
  HostRun run(device, problem, expectation.inputs(), pinned);
  set_mode(run, way);
  for (int w = 0; w < expectation.windows(); ++w) {
    run.poison();
    const Pass done = run.once(uint64_t(w) * Expectation::kShift);
    EXPECT_EQ(expectation.check(w, run.output(), Numerics::reproducible), "")
        << device.id() << " " << to_string(problem) << " " << way.memory << " in " << way.chunks;
    EXPECT_EQ(impossible(done), "") << device.id() << " " << to_string(problem);
    EXPECT_EQ(chunks_of(done), device.backend() == "cpu" ? 1 : std::max(way.chunks, 1));
    for (const Lane lane : {Lane::copy_in, Lane::copy_out})
      EXPECT_EQ(uses(done.spans, lane), way.memory != "shared");
    EXPECT_TRUE(uses(done.spans, Lane::kernel));
    EXPECT_EQ(uses(done.spans, Lane::cpu), way.cpu_rows != 0);
  }
}

TEST(Modes, GiveTheSameBits) {
  const Problem problems[] = {
      a_problem(Operation::transpose, Dtype::f32, {131, 67, 0}),
      a_problem(Operation::transpose, Dtype::b8, {7, 301, 0}),
      a_problem(Operation::gemm, Dtype::f64, {67, 45, 33}),
      a_problem(Operation::gemm, Dtype::i32, {130, 31, 17}),
      a_problem(Operation::reduce, Dtype::f32, {10007, 1, 0}, Function::min, "nan"),
      a_problem(Operation::reduce, Dtype::f64, {10007, 1, 0}, Function::sum, "cancel"),
  };
  for (const Device& device : all_devices())
    for (const Problem& problem : problems)
      for (const TransferMode& way : modes_of(device, problem.operation)) {
        if (way.memory != "pipelined") {
          pass(device, problem, way);
          continue;
        }
        for (const int chunks : {1, 2, 7}) pass(device, problem, {way.memory, chunks});
      }
}

TEST(Modes, OfADevice) {
  const auto words = [](const Device& device, Operation operation) {
    std::vector<std::string> all;
    for (const TransferMode& way : modes_of(device, operation)) all.push_back(way.memory);
    return all;
  };
  using Words = std::vector<std::string>;
  for (const Device& device : all_devices()) {
    Words reduce = words(device, Operation::reduce), gemm = words(device, Operation::gemm);
    if (in_place(device)) {
      EXPECT_EQ(gemm.back(), "shared");
      gemm.pop_back(), reduce.pop_back();
    }
    const bool copies = device.backend() != "cpu";
    EXPECT_EQ(gemm, copies ? (Words{"pageable", "pinned", "pipelined"}) : Words{});
    EXPECT_EQ(reduce, copies ? (Words{"pageable", "pinned"}) : Words{});  // it isn't cut
  }
}

TEST(Modes, TheCpuTakesItsPart) {
  for (const Device& device : all_devices()) {
    if (device.backend() == "cpu") continue;
    pass(device, a_problem(Operation::transpose, Dtype::f32, {131, 67, 0}), {"pipelined", 3, 32});
    pass(device, a_problem(Operation::gemm, Dtype::f32, {131, 40, 30}), {"pipelined", 3, 64});
  }
}

TEST(Balance, EndsBothAtOnce) {
  EXPECT_EQ(balanced_rows(4096, 1, 1), 2048);
  EXPECT_EQ(balanced_rows(4096, 1, 3), 1024);  // three times as slow: a quarter of the rows
  EXPECT_EQ(balanced_rows(4096, 1e-9, 1), 0);
  EXPECT_EQ(balanced_rows(4096, 1, 1e-9), 4096 - 64);  // the device keeps a part
  EXPECT_EQ(balanced_rows(3, 1, 1), 0);
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
