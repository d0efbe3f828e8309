// Placement among the fakes: one GPU twice (both fake devices have memory of their own), one CPU.
#include <algorithm>

#include "core/src/auto/placement.hpp"
#include "core/src/runtime/error.hpp"
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
  EXPECT_THAT(placement.sentence, HasSubstr("lives on fake:1"));
  EXPECT_REFUSED(Status::invalid_argument, "needs views with buffers",
                 place(sum_of(10), Where::device));
}

TEST(Place, HostDataIsPlacedByPredictionsThatCanBeReadBack) {
  const Placement placement = place(sum_of(1 << 22), Where::host);
  EXPECT_GT(placement.seconds, 0);
  EXPECT_EQ(placement.choice.device.id(), placement.device.id());
  EXPECT_THAT(placement.sentence, HasSubstr("Predicted per run: " + placement.device.id()));
  for (const char* piece : {"fake:0", "fake:1", "other:0", "of it copying"}) {
    EXPECT_THAT(placement.sentence, HasSubstr(piece));
  }
  // Shared among many runs, the transfer no longer counts.
  EXPECT_LE(place(sum_of(1 << 22), Where::host, 1000000).seconds, placement.seconds);
}

TEST(Place, RanksOfANodeTakeTurnsOnItsGpus) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // candidates are found once a process
  for (const char* rank : {"0", "1"})
    EXPECT_EXIT(
        {
          setenv("OMPI_COMM_WORLD_LOCAL_RANK", rank, 1);
          setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2", 1);
          const std::string said = place(sum_of(1 << 22), Where::host).sentence;
          const auto has = [&](const char* id) { return said.find(id) != std::string::npos; };
          const bool is_first = *rank == '0';
          _exit(has("fake:0") == is_first && has("fake:1") != is_first && has("other:0") ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "");
}

TEST(Place, PipelinedDataTakesLessThanTheSumOfItsSteps) {
  const Device device = open("fake:0");
  const auto seconds = [&](int64_t side, Where where) {
    const View square = row_major({}, Dtype::f32, side, side);
    return detail::predict(device, detail::work_of(Transpose{square, square}), where, 1).seconds;
  };
  // By how much is up to the fake's roofs, which are measured, on a busy machine too.
  EXPECT_LT(seconds(4096, Where::host_pipelined), seconds(4096, Where::host_pinned));
  EXPECT_DOUBLE_EQ(seconds(1024, Where::host_pipelined),
                   seconds(1024, Where::host_pinned));  // whole
  const detail::Work sum = detail::work_of(sum_of(1 << 26));
  EXPECT_EQ(detail::predict(device, sum, Where::host_pipelined, 1).seconds,
            detail::predict(device, sum, Where::host_pinned, 1).seconds);
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

/// Devices that refuse f32 until the end of the test.
struct PlaceAmongRefusals : ::testing::Test {
  void refuse_f32(const std::string& id) {
    const Device device = open(id);
    panel_of(device).refuse_dtype(id.back() - '0', static_cast<int>(Dtype::f32));
    refusing.push_back(device);
  }
  ~PlaceAmongRefusals() override {
    for (const Device& device : refusing)
      panel_of(device).refuse_dtype(device.id().back() - '0', 0);
  }
  std::vector<Device> refusing;
};

TEST_F(PlaceAmongRefusals, ADeviceThatCantRunTheCallIsNoCandidate) {
  const Reduce large = sum_of(1 << 22);
  const std::vector<float> values(1000, 1.0f);  // tiny, and there is no cpu among the fakes
  for (int left = 3; left > 0; --left) {
    const Placement placement = place(large, Where::host);
    for (const Device& device : refusing) {
      EXPECT_FALSE(placement.device == device);
      EXPECT_THAT(placement.sentence, HasSubstr(device.id() + ": choosing a rung: it has no such"));
    }
    Choice choice;
    EXPECT_EQ(sum(values, {.choice = &choice}), 1000);
    EXPECT_TRUE(std::find(refusing.begin(), refusing.end(), choice.device) == refusing.end());
    refuse_f32(placement.device.id());
  }
  for (const char* id : {"fake:0", "fake:1", "other:0"}) {
    const std::string reason = std::string(id) + ": choosing a rung: it has no such arithmetic";
    EXPECT_REFUSED(Status::unsupported, reason, place(large, Where::host));
    EXPECT_REFUSED(Status::unsupported, reason, sum(values));
  }
  EXPECT_REFUSED(Status::unsupported, "No device can run this reduce", place(large, Where::host));
  Reduce other = large;  // f64 is fine everywhere
  other.input.dtype = other.output.dtype = Dtype::f64;
  EXPECT_TRUE(place(other, Where::host).device);
}

TEST_F(PlaceAmongRefusals, ANamedRungThatRefusesIsNoCandidateEither) {
  const std::vector<float> values(1000, 1.0f);
  EXPECT_REFUSED(Status::unsupported, "other:0: rung picky refuses this reduce: it likes nothing",
                 sum(values, {.rung = "picky"}));
  EXPECT_REFUSED(Status::not_found, "Did you mean 'naive'?", sum(values, {.rung = "nave"}));
}

TEST(Place, ADeviceWithTooLittleMemoryIsNoCandidate) {
  // The fakes with memory of their own have 2 GiB, 1 GiB at most for a buffer.
  const int64_t side = 1 << 14;
  Placement placement = place(sum_of(side * side + 1), Where::host);
  EXPECT_EQ(placement.device.id(), "other:0");
  EXPECT_THAT(placement.sentence,
              HasSubstr("fake:0: an operand of 1073741828 bytes is larger than its "
                        "largest buffer, 1073741824 bytes"));
  const Transpose turn{row_major({}, Dtype::f32, side, side),
                       row_major({}, Dtype::f32, side, side)};
  placement = place(turn, Where::host);
  EXPECT_EQ(placement.device.id(), "other:0");
  EXPECT_THAT(placement.sentence, HasSubstr("fake:1: operands of 2147483648 bytes don't fit"));
  for (const char* id : {"fake:0: an operand", "fake:1: an operand", "other:0: an operand"}) {
    EXPECT_REFUSED(Status::unsupported, id, place(sum_of((int64_t{1} << 29) + 1), Where::host));
  }
  // Packed, or repeated, it is small.
  Reduce op = sum_of(1 << 20);
  op.input.row_stride = 1 << 8;
  EXPECT_THAT(place(op, Where::host).sentence, Not(HasSubstr("an operand")));
  op.input.rows = int64_t{1} << 40;
  op.input.row_stride = 0;
  EXPECT_THAT(place(op, Where::host).sentence, Not(HasSubstr("an operand")));
}

TEST(Place, SaysTimesInTheUnitThatFits) {
  EXPECT_EQ(detail::time_text(1.25e-5), "12.5 µs");
  EXPECT_EQ(detail::time_text(0.0025), "2.5 ms");
  EXPECT_EQ(detail::time_text(2.5), "2.5 s");
}

TEST(Place, RefusesWhatRunWouldRefuse) {
  EXPECT_REFUSED(Status::invalid_argument, "repeats is 0", place(sum_of(10), Where::host, 0));
  Reduce wrong = sum_of(10);
  wrong.output.dtype = Dtype::i32;
  EXPECT_REFUSED(Status::invalid_argument, "gives f32", place(wrong, Where::host));
}

}  // namespace
}  // namespace trine::testing
