// Host memory is used in place only where the driver keeps no copy of it: a real CPU device does
// so; devices that only seem to share memory are played by the loader's table.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "opencl_fixture.hpp"

namespace {

struct OpenclMemory : faults::OpenclDriver {
  void SetUp() override {
    OpenclDriver::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    trine_device_facts facts{};
    facts.size = sizeof facts;
    ASSERT_EQ(backend->device_describe(0, &facts), TRINE_OK);
    if (facts.kind != TRINE_DEVICE_CPU) GTEST_SKIP() << "opencl:0 is no CPU";
  }

  bool shares_memory() const {
    const faults::Device device(*backend);
    trine_device_facts facts{};
    facts.size = sizeof facts;
    device.check(backend->device_facts(device.device, &facts));
    return (facts.capabilities & TRINE_CAN_SHARE_MEMORY) != 0;
  }
  trine_status wrap() const {
    const faults::Device device(*backend);
    std::vector<float> memory(64);
    trine_buffer* made = nullptr;
    const trine_status status = backend->buffer_wrap(device.device, memory.data(), 256, &made);
    if (status == TRINE_OK) backend->buffer_free(made);
    return status;
  }
};

TEST_F(OpenclMemory, a_cpu_that_uses_it_in_place_shares_it) {
  EXPECT_TRUE(shares_memory());
  EXPECT_EQ(wrap(), TRINE_OK) << backend->last_error();
}

TEST_F(OpenclMemory, a_gpu_with_unified_memory_does_not_share_it) {
  played.clGetDeviceInfo = [](cl_device_id device, cl_device_info what, size_t bytes, void* answer,
                              size_t* needed) {
    const cl_int code = real.clGetDeviceInfo(device, what, bytes, answer, needed);
    if (what == CL_DEVICE_TYPE && answer) {
      *static_cast<cl_device_type*>(answer) = CL_DEVICE_TYPE_GPU;
    }
    return code;
  };
  trine::opencl::replace_driver(&played);
  EXPECT_FALSE(shares_memory());
  EXPECT_EQ(wrap(), TRINE_UNSUPPORTED);
}

TEST_F(OpenclMemory, a_cpu_whose_driver_keeps_a_copy_does_not_share_it) {
  played.clCreateBuffer = [](cl_context context, cl_mem_flags flags, size_t bytes, void* memory,
                             cl_int* code) {
    if (flags & CL_MEM_USE_HOST_PTR) {
      flags = (flags & ~cl_mem_flags{CL_MEM_USE_HOST_PTR}) | CL_MEM_COPY_HOST_PTR;
    }
    return real.clCreateBuffer(context, flags, bytes, memory, code);
  };
  trine::opencl::replace_driver(&played);
  EXPECT_FALSE(shares_memory());
  EXPECT_EQ(wrap(), TRINE_UNSUPPORTED);
}

/// The kernel's flags of the mapping that holds `at`: "hg" where huge pages were asked for.
std::string flags_of_mapping(const char* at) {
  std::ifstream maps("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long from = 0, to = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2)
      is_here = from <= reinterpret_cast<uintptr_t>(at) && reinterpret_cast<uintptr_t>(at) < to;
    if (is_here && line.starts_with("VmFlags:")) return line;
  }
  return "";
}

TEST_F(OpenclMemory, large_buffers_of_a_cpu_ask_for_huge_pages) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) GTEST_SKIP();
  static void* mapped;
  mapped = nullptr;
  played.clEnqueueMapBuffer = [](cl_command_queue queue, cl_mem memory, cl_bool waits,
                                 cl_map_flags flags, size_t offset, size_t bytes, cl_uint count,
                                 const cl_event* before, cl_event* event, cl_int* code) {
    return mapped = real.clEnqueueMapBuffer(queue, memory, waits, flags, offset, bytes, count,
                                            before, event, code);
  };
  trine::opencl::replace_driver(&played);
  const faults::Device device(*backend);
  constexpr uint64_t kMiB = 1 << 20;
  for (const uint32_t kind : {TRINE_MEMORY_DEVICE, TRINE_MEMORY_PINNED}) {
    trine_buffer* buffer = nullptr;
    device.check(backend->buffer_allocate(device.device, 32 * kMiB, kind, &buffer));
    ASSERT_NE(mapped, nullptr);
    EXPECT_NE(flags_of_mapping(static_cast<char*>(mapped) + 4 * kMiB).find(" hg"),
              std::string::npos);
    backend->buffer_free(buffer);
  }
}

// Mapping is only a way to ask for pages: a driver that can't do it still gives memory. One that
// can has ended with it before the memory is used.
TEST_F(OpenclMemory, huge_pages_are_a_hint) {
  static int unmapped, finished;
  unmapped = finished = 0;
  played.clEnqueueUnmapMemObject = [](cl_command_queue queue, cl_mem memory, void* place,
                                      cl_uint count, const cl_event* before, cl_event* event) {
    ++unmapped;
    return real.clEnqueueUnmapMemObject(queue, memory, place, count, before, event);
  };
  played.clFinish = [](cl_command_queue queue) {
    finished = unmapped;
    return real.clFinish(queue);
  };
  trine::opencl::replace_driver(&played);
  const faults::Device device(*backend);
  trine_buffer* buffer = nullptr;
  device.check(backend->buffer_allocate(device.device, 32 << 20, TRINE_MEMORY_DEVICE, &buffer));
  EXPECT_EQ(unmapped, 1);
  EXPECT_EQ(finished, 1);
  backend->buffer_free(buffer);
  played.clEnqueueMapBuffer = [](cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t,
                                 cl_uint, const cl_event*, cl_event*, cl_int* code) -> void* {
    *code = CL_MAP_FAILURE;
    return nullptr;
  };
  buffer = nullptr;
  EXPECT_EQ(backend->buffer_allocate(device.device, 32 << 20, TRINE_MEMORY_DEVICE, &buffer),
            TRINE_OK);
  backend->buffer_free(buffer);
}

TEST_F(OpenclMemory, larger_than_the_largest_buffer_is_refused_with_the_limit_in_every_kind) {
  static constexpr uint64_t kLimit = 1 << 20;
  played.clGetDeviceInfo = [](cl_device_id device, cl_device_info what, size_t bytes, void* answer,
                              size_t* needed) {
    const cl_int code = real.clGetDeviceInfo(device, what, bytes, answer, needed);
    if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE && answer) *static_cast<cl_ulong*>(answer) = kLimit;
    return code;
  };
  trine::opencl::replace_driver(&played);
  const faults::Device device(*backend);
  std::vector<char> memory(kLimit + 1);
  const auto make = [&](uint32_t kind, uint64_t bytes) {
    trine_buffer* made = nullptr;
    const trine_status status =
        kind == TRINE_MEMORY_WRAPPED
            ? backend->buffer_wrap(device.device, memory.data(), bytes, &made)
            : backend->buffer_allocate(device.device, bytes, kind, &made);
    if (status == TRINE_OK) backend->buffer_free(made);
    return status;
  };
  for (const uint32_t kind : {TRINE_MEMORY_DEVICE, TRINE_MEMORY_PINNED, TRINE_MEMORY_WRAPPED}) {
    EXPECT_EQ(make(kind, kLimit), TRINE_OK) << kind << ": " << backend->last_error();
    EXPECT_EQ(make(kind, kLimit + 1), TRINE_UNSUPPORTED) << kind;
    EXPECT_NE(std::strstr(backend->last_error(), "exceeds the device's limit, 1048576"), nullptr)
        << kind << ": " << backend->last_error();
  }
}

}  // namespace
