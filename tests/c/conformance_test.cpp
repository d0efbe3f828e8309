// The conformance cases through C: on host data, and on a queue of the cpu.
#include "each_case.hpp"

namespace trine::conformance {
namespace {

TEST(conformance, through_c) {
  trine_device_t* device = nullptr;
  trine_queue_t* queue = nullptr;
  ASSERT_EQ(trine_device_open("cpu", &device), TRINE_OK);
  ASSERT_EQ(trine_queue_create(device, &queue), TRINE_OK);
  const auto on_host = [](const oracle::Operation& op, const std::vector<Image>&) {
    return call_on_host(oracle::kind_of(op), descriptor_of(op));
  };
  const auto on_device = [queue](const oracle::Operation& op, const std::vector<Image>& images) {
    return call_on_device(queue, oracle::kind_of(op), descriptor_of(op), images.data(),
                          images.size());
  };
  each_case({{"calls on host data", on_host}, {"calls on a device", on_device}});
  trine_queue_release(queue);
  trine_device_close(device);
}

TEST(conformance, a_new_operation_is_left_out_until_c_calls_it) {
  EXPECT_EQ(call_on_host(TRINE_OPERATION_COUNT + 1, nullptr), kLeftOut);
}

}  // namespace
}  // namespace trine::conformance
