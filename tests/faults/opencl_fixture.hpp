// The OpenCL backend over the machine's own driver, whose table of calls a test may play.
#pragma once

#include <gtest/gtest.h>

#include "abi_objects.hpp"
#include "opencl/driver.hpp"

namespace faults {

struct OpenclDriver : testing::Test {
  void SetUp() override {
    const char* reason = "";
    const trine::opencl::Driver* found = trine::opencl::find_driver(&reason);
    if (!found) GTEST_SKIP() << reason;
    real = played = *found;
    ASSERT_EQ(trine_backend_v1(&host.services, &backend), TRINE_OK);
    int count = 0;
    ASSERT_EQ(backend->device_count(&count), TRINE_OK);
    if (count == 0) GTEST_SKIP() << backend->last_error();
  }
  void TearDown() override { trine::opencl::replace_driver(nullptr); }

  inline static Host host;
  inline static trine::opencl::Driver real, played;
  const trine_backend* backend = nullptr;
};

}  // namespace faults
