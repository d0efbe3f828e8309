// Every call to the OpenCL loader fails, once and from then on, over a real platform: nothing
// crashes, nothing is kept, what a refused call would have written is untouched, the next is right.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "abi_objects.hpp"
#include "backends/gpu/objects.hpp"
#include "injector.hpp"
#include "opencl_table.hpp"
#include "road.hpp"

namespace {

struct OpenclFaults : testing::Test {
  void SetUp() override {
    const auto* table = faulty_opencl::table();
    if (!table) GTEST_SKIP() << "no OpenCL loader";
    trine::opencl::replace_driver(table);
    faults::plan.reset();
    host.reset();
    ASSERT_EQ(trine_backend_v1(&host.services, &backend), TRINE_OK);
    int count = 0;
    ASSERT_EQ(backend->device_count(&count), TRINE_OK);
    if (count == 0) GTEST_SKIP() << backend->last_error();
    // A first run finds devices, fills the cache and shows that all is well.
    const faults::Road road = faults::run_road(*backend, true, [] {});
    ASSERT_EQ(road.status, TRINE_OK) << road.error;
    ASSERT_EQ(road.wrong, "");
    ASSERT_EQ(leftovers(), "");
  }

  static std::string leftovers() {
    // The driver's own thread lets go of an event's notice a moment after it was heard.
    for (int i = 0; i < 10'000 && host.alive; ++i) usleep(1000);
    std::string text = faulty_opencl::leftovers();
    if (host.alive) text += std::to_string(host.alive) + " blocks of host memory";
    return text;
  }

  static faults::Faults driver_faults(int code) {
    return {.arm =
                [=](long n, bool forever) {
                  trine::gpu::forget_checks();
                  faults::plan.reset(n, forever, code);
                },
            .heal =
                [] {
                  faults::plan.reset();
                  faulty_opencl::drain();
                },
            .fired = [] { return faults::plan.fired > 0; },
            .name = [] { return faults::plan.first; },
            .inspect =
                [] {
                  // Objects that a failed give-back left aren't ours to count.
                  std::string left = leftovers();
                  if (!left.empty()) faulty_opencl::reset();
                  return left;
                }};
  }

  inline static faults::Host host;
  const trine_backend* backend = nullptr;
};

TEST_F(OpenclFaults, every_call_of_the_loader) {
  EXPECT_GT(fail_everywhere(*backend, true, driver_faults(CL_OUT_OF_RESOURCES)), 150);
}

TEST_F(OpenclFaults, every_allocation_of_host_memory) {
  const faults::Faults faults = {.arm = [](long n, bool forever) { host.reset(n, forever); },
                                 .heal = [] { host.reset(); },
                                 .fired = [] { return host.fired > 0; },
                                 .name = [] { return std::string("an allocation"); },
                                 .inspect = leftovers};
  EXPECT_GT(fail_everywhere(*backend, true, faults), 20);
}

}  // namespace
