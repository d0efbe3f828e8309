// A call's steps through core: operations on a fake device, and the choice that can be read back.
#include "fixture.hpp"

namespace trine::testing {
namespace {

struct Operations : FakeDevice {};

TEST_F(Operations, SumReachesTheDeviceAndComesBack) {
  const Buffer input = upload<float>({1, 2, 3, 4, 5, 6});
  const Buffer output(device, sizeof(float));
  const Choice choice = run(queue, Reduce{.input = row_major(input, Dtype::f32, 2, 3),
                                          .output = vector(output, Dtype::f32, 1)});
  EXPECT_EQ(download<float>(output), std::vector<float>{21});
  EXPECT_EQ(choice.rung(), "tuned:threads=256,finish=atomic");
  EXPECT_EQ(choice.rung_name(), "tuned");
  EXPECT_EQ(choice.device.id(), "fake:0");
  EXPECT_EQ(choice.why, "default: the fake's best");
  EXPECT_EQ(choice.sentence(),
            "reduce on fake:0 by tuned:threads=256,finish=atomic (reproducible): default: the "
            "fake's best.");
}

TEST_F(Operations, FastWithoutAFasterRungSaysSo) {
  const Buffer input = upload<float>({1, 2, 3});
  const Buffer output(device, sizeof(float));
  const Choice choice = run(queue, Reduce{.input = vector(input, Dtype::f32, 3),
                                          .output = vector(output, Dtype::f32, 1),
                                          .numerics = Numerics::fast});
  EXPECT_EQ(choice.numerics, Numerics::reproducible);
  EXPECT_EQ(choice.why, "nothing faster than the reproducible rung here");
}

TEST_F(Operations, ANamedRungRunsWithItsParameters) {
  const Buffer input = upload<float>({1, 2, 3}), output(device, 4);
  const Reduce sum{.input = vector(input, Dtype::f32, 3), .output = vector(output, Dtype::f32, 1)};
  EXPECT_EQ(run(queue, sum, "naive").rung(), "naive");
  EXPECT_EQ(run(queue, sum, "tuned:finish=two").rung(), "tuned:threads=128,finish=two");
  EXPECT_EQ(run(queue, sum, "tuned:threads=64,finish=two").rung(), "tuned:threads=64,finish=two");
  EXPECT_EQ(run(queue, sum, "tuned").why, "named by the caller");
  queue.wait();
}

}  // namespace
}  // namespace trine::testing
