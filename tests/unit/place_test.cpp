// Placement at its obvious ends, on whatever this machine has beside the fakes.
#include "fixture.hpp"

namespace trine::testing {
namespace {

Reduce sum_of(int64_t count) {
  return {.input = vector({}, Dtype::f32, count), .output = vector({}, Dtype::f32, 1)};
}

TEST(Place, ResidentDataRunsWhereItLives) {
  const Device device = open("fake:1");
  const Buffer input(device, 4096), output(device, 4);
  const Placement placement =
      place(Reduce{.input = vector(input, Dtype::f32, 1024), .output = vector(output, Dtype::f32, 1)}, Where::device);
  EXPECT_TRUE(placement.device == device);
  EXPECT_EQ(placement.choice.rung_name(), "tuned");
  EXPECT_NE(placement.sentence.find("lives on fake:1"), std::string::npos) << placement.sentence;
  EXPECT_REFUSED(Status::invalid_argument, "data in a buffer", place(sum_of(10), Where::device));
}

TEST(Place, TinyHostDataStaysOnTheCpuWithoutMeasuring) {
  bool has_cpu = false;
  for (const BackendInfo& info : backends()) has_cpu = has_cpu || (info.name == "cpu" && !info.devices.empty());
  if (!has_cpu) GTEST_SKIP() << "no cpu backend beside this library";
  const auto start = std::chrono::steady_clock::now();
  const Placement placement = place(sum_of(1000), Where::host);
  EXPECT_EQ(placement.device.id(), "cpu");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << "nothing is measured";
}

TEST(Place, RoofsAreMeasuredOnceAndFilledIn) {
  const Device device = open("other:0");
  const Roofs& first = roofs(device);
  for (const double rate : {first.copy, first.read, first.fma_f32, first.fma_f64, first.to_device, first.to_host,
                            first.to_device_pinned, first.to_host_pinned, first.launch}) {
    EXPECT_GT(rate, 0);
  }
  EXPECT_EQ(&first, &roofs(device));
}

TEST(Place, RefusesWhatRunWouldRefuse) {
  EXPECT_REFUSED(Status::invalid_argument, "repeats is 0", place(sum_of(10), Where::host, 0));
  Reduce wrong = sum_of(10);
  wrong.output.dtype = Dtype::i32;
  EXPECT_REFUSED(Status::invalid_argument, "gives f32", place(wrong, Where::host));
}

}  // namespace
}  // namespace trine::testing
