// A platform whose driver is broken, by itself and before the machine's own, played by the loader's
// table.
#include <gtest/gtest.h>

#include <cstring>

#include "abi_objects.hpp"
#include "opencl/driver.hpp"

namespace {

trine::opencl::Driver real, played;
int broken_driver;
bool is_alone = true;

cl_platform_id broken() { return reinterpret_cast<cl_platform_id>(&broken_driver); }

TEST(OpenclPlatforms, a_broken_one_hides_no_other_and_says_why_it_is_left_out) {
  const char* reason = "";
  const trine::opencl::Driver* found = trine::opencl::find_driver(&reason);
  if (!found) GTEST_SKIP() << reason;
  real = played = *found;
  played.clGetPlatformIDs = [](cl_uint room, cl_platform_id* platforms, cl_uint* count) {
    *count = 0;
    if (!is_alone) real.clGetPlatformIDs(room - 1, platforms + 1, count);
    platforms[0] = broken();
    ++*count;
    return cl_int{CL_SUCCESS};
  };
  played.clGetPlatformInfo = [](cl_platform_id platform, cl_platform_info what, size_t bytes,
                                void* answer, size_t* needed) {
    if (platform != broken()) return real.clGetPlatformInfo(platform, what, bytes, answer, needed);
    std::strncpy(static_cast<char*>(answer), "Broken", bytes);
    return cl_int{CL_SUCCESS};
  };
  played.clGetDeviceIDs = [](cl_platform_id platform, cl_device_type type, cl_uint room,
                             cl_device_id* devices, cl_uint* count) {
    if (platform == broken()) return cl_int{CL_OUT_OF_RESOURCES};
    return real.clGetDeviceIDs(platform, type, room, devices, count);
  };
  trine::opencl::replace_driver(&played);
  const faults::Host host;
  const trine_backend* backend = nullptr;
  ASSERT_EQ(trine_backend_v1(&host.services, &backend), TRINE_OK);

  int count = -1;
  EXPECT_EQ(backend->device_count(&count), TRINE_OK);
  EXPECT_EQ(count, 0);
  EXPECT_STREQ(backend->last_error(),
               "no OpenCL platform has a device that works: Broken: CL_OUT_OF_RESOURCES (-5)");
  is_alone = false;
  cl_platform_id theirs;
  cl_uint platforms = 0;
  if (real.clGetPlatformIDs(1, &theirs, &platforms) != CL_SUCCESS) GTEST_SKIP() << "none besides";
  EXPECT_EQ(backend->device_count(&count), TRINE_OK) << backend->last_error();
  ASSERT_GT(count, 1);
  trine_device_facts facts{};
  facts.size = sizeof facts;
  EXPECT_EQ(backend->device_describe(0, &facts), TRINE_OK) << backend->last_error();
  constexpr const char* kWhy = "this OpenCL platform is left out: Broken: CL_OUT_OF_RESOURCES (-5)";
  EXPECT_NE(backend->device_describe(count - 1, &facts), TRINE_OK);
  EXPECT_STREQ(backend->last_error(), kWhy);
  trine_device* device = nullptr;
  EXPECT_NE(backend->device_open(count - 1, "", &device), TRINE_OK);
  EXPECT_STREQ(backend->last_error(), kWhy);
}

}  // namespace
