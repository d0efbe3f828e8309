// Placement among the fakes: one GPU twice (both fake devices have memory of their own), one CPU.
#include "fixture.hpp"

namespace trine::testing {
namespace {

Reduce sum_of(int64_t count) {
  return {.input = vector({}, Dtype::f32, count), .output = vector({}, Dtype::f32, 1)};
}

TEST(Place, ResidentDataRunsWhereItLives) {
  const Device device = open("fake:1");
  const Buffer input(device, 4096), output(device, 4);
  const Placement placement = place(
      Reduce{.input = vector(input, Dtype::f32, 1024), .output = vector(output, Dtype::f32, 1)},
      Where::device);
  EXPECT_TRUE(placement.device == device);
  EXPECT_EQ(placement.choice.rung_name(), "tuned");
  EXPECT_NE(placement.sentence.find("lives on fake:1"), std::string::npos) << placement.sentence;
  EXPECT_REFUSED(Status::invalid_argument, "data in a buffer", place(sum_of(10), Where::device));
}

TEST(Place, HostDataIsPlacedByPredictionsThatCanBeReadBack) {
  const Placement placement = place(sum_of(1 << 22), Where::host);
  EXPECT_GT(placement.seconds, 0);
  EXPECT_EQ(placement.choice.device.id(), placement.device.id());
  EXPECT_NE(placement.sentence.find("Predicted per run: " + placement.device.id()),
            std::string::npos)
      << placement.sentence;
  for (const char* piece : {"fake:0", "fake:1", "other:0", "of it copying"}) {
    EXPECT_NE(placement.sentence.find(piece), std::string::npos) << placement.sentence;
  }
  // Shared among many runs, the transfer no longer counts.
  EXPECT_LE(place(sum_of(1 << 22), Where::host, 1000000).seconds, placement.seconds);
}

TEST(Place, RoofsAreMeasuredOnceAndFilledIn) {
  const Device device = open("other:0");
  const Roofs& first = roofs(device);
  for (const double rate :
       {first.copy, first.read, first.fma_f32, first.fma_f64, first.to_device, first.to_host,
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
