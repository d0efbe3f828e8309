// Threads with the least stack that docs/lifetimes.md promises to be enough.
#include <gtest/gtest.h>
#include <pthread.h>
#include <trine/ops.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "conformance/verify.hpp"

namespace trine::conformance {
namespace {

// The cases run on threads that are made in verify(): of this size, and so are those of the
// backend.
void run_cases_on(std::size_t stack_bytes, const std::string& backend, uint32_t operation = 0) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, stack_bytes), 0);
  ASSERT_EQ(pthread_setattr_default_np(&attributes), 0);
  pthread_attr_destroy(&attributes);
  Options options;
  options.quick = true;
  options.devices = {backend};
  options.operation = operation;
  const Report report = verify(options);
  print(report, std::cout);
  EXPECT_TRUE(report.passed());
}

TEST(stacks, of_64_KiB_do_for_the_cpu) {
  setenv("OCL_ICD_VENDORS", "/dev/null", 1);  // no driver beside it
  run_cases_on(64 << 10, "cpu");
}

#ifdef TRINE_TEST_OPENCL
TEST(stacks, of_1_MiB_do_where_a_driver_opens_and_compiles) {
  const std::vector<std::string> required = required_by_environment();
  try {
    run_cases_on(1 << 20, "opencl:0", TRINE_GEMM);
  } catch (const std::runtime_error& error) {  // asked first, this thread would open the driver
    if (std::ranges::find(required, "opencl") != required.end()) throw;
    GTEST_SKIP() << error.what();
  }
}
#endif

}  // namespace
}  // namespace trine::conformance
