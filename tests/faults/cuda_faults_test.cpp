// Every call to the CUDA driver fails, once and from then on, along a script that touches most of
// the backend: nothing crashes, nothing is kept, the next run is right.
#include <gtest/gtest.h>

#include "abi_objects.hpp"
#include "backends/gpu/objects.hpp"
#include "fake_cuda.hpp"
#include "injector.hpp"
#include "road.hpp"

namespace {

struct CudaFaults : testing::Test {
  void SetUp() override {
    fake_cuda::reset();
    faults::plan.reset();
    host.reset();
    trine::cuda::replace_driver(&fake_cuda::table());
    ASSERT_EQ(trine_backend_v1(&host.services, &backend), TRINE_OK);
  }

  static std::string leftovers() {
    std::string text = fake_cuda::leftovers();
    if (host.alive) text += std::to_string(host.alive) + " blocks of host memory";
    return text;
  }

  faults::Faults driver_faults(int code, bool cold) {
    return {.arm =
                [=](long n, bool forever) {
                  if (cold) trine::gpu::forget_checks();
                  faults::plan.reset(n, forever, code);
                },
            .heal = [] { faults::plan.reset(); },
            .fired = [] { return faults::plan.fired > 0; },
            .name = [] { return faults::plan.first; },
            .inspect = leftovers};
  }

  inline static faults::Host host;
  const trine_backend* backend = nullptr;
};

TEST_F(CudaFaults, every_driver_call_of_a_cold_start) {
  EXPECT_GT(fail_everywhere(*backend, false, driver_faults(999, true)), 250);
}

TEST_F(CudaFaults, every_driver_call_of_a_warm_start_without_memory) {
  EXPECT_GT(fail_everywhere(*backend, false, driver_faults(2, false)), 150);
}

TEST_F(CudaFaults, every_driver_call_that_loses_the_device) {
  faults::Faults faults = driver_faults(719, false);
  // A lost context keeps what it held, and its driver gives it back.
  faults.inspect = [] {
    fake_cuda::reset();
    return host.alive ? std::to_string(host.alive) + " blocks of host memory" : std::string();
  };
  EXPECT_GT(fail_everywhere(*backend, false, faults), 150);
}

TEST_F(CudaFaults, every_allocation_of_host_memory) {
  const faults::Faults faults = {.arm =
                                     [](long n, bool forever) {
                                       trine::gpu::forget_checks();
                                       host.reset(n, forever);
                                     },
                                 .heal = [] { host.reset(); },
                                 .fired = [] { return host.fired > 0; },
                                 .name = [] { return std::string("an allocation"); },
                                 .inspect = leftovers};
  EXPECT_GT(fail_everywhere(*backend, false, faults), 20);
}

}  // namespace
