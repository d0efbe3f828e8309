// Finds the OpenCL loader, and gives its errors their names.
#include "driver.hpp"

#include <cstdio>
#include <iterator>

#include "backends/kit/driver_table.hpp"

namespace trine::opencl {
namespace {

constexpr const char* kSymbols[] = {
#define TRINE_SYMBOL(symbol) #symbol,
    TRINE_OPENCL_FUNCTIONS(TRINE_SYMBOL)
#undef TRINE_SYMBOL
};
constinit kit::DriverTable<Driver, std::size(kSymbols)> table(
    {"libOpenCL.so.1", "there is no OpenCL loader", " (Debian: ocl-icd-libopencl1)", "OpenCL 1.2"},
    kSymbols);

}  // namespace

const Driver* find_driver(const char** reason) { return table.find(reason); }
bool has_driver() { return table.is_found(); }
const Driver& driver() { return table.get(); }
void replace_driver(const Driver* other) { table.replace(other); }

// clang-format off
#define TRINE_OPENCL_ERRORS(X) \
  X(CL_DEVICE_NOT_FOUND) X(CL_DEVICE_NOT_AVAILABLE) X(CL_COMPILER_NOT_AVAILABLE) \
  X(CL_MEM_OBJECT_ALLOCATION_FAILURE) X(CL_OUT_OF_RESOURCES) X(CL_OUT_OF_HOST_MEMORY) \
  X(CL_PROFILING_INFO_NOT_AVAILABLE) X(CL_MEM_COPY_OVERLAP) X(CL_BUILD_PROGRAM_FAILURE) \
  X(CL_MAP_FAILURE) X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) X(CL_INVALID_VALUE) \
  X(CL_INVALID_DEVICE) X(CL_INVALID_CONTEXT) X(CL_INVALID_QUEUE_PROPERTIES) \
  X(CL_INVALID_COMMAND_QUEUE) X(CL_INVALID_HOST_PTR) X(CL_INVALID_MEM_OBJECT) \
  X(CL_INVALID_BINARY) X(CL_INVALID_BUILD_OPTIONS) X(CL_INVALID_PROGRAM) \
  X(CL_INVALID_PROGRAM_EXECUTABLE) X(CL_INVALID_KERNEL_NAME) X(CL_INVALID_KERNEL) \
  X(CL_INVALID_ARG_INDEX) X(CL_INVALID_ARG_VALUE) X(CL_INVALID_ARG_SIZE) \
  X(CL_INVALID_KERNEL_ARGS) X(CL_INVALID_WORK_DIMENSION) X(CL_INVALID_WORK_GROUP_SIZE) \
  X(CL_INVALID_WORK_ITEM_SIZE) X(CL_INVALID_EVENT_WAIT_LIST) X(CL_INVALID_EVENT) \
  X(CL_INVALID_OPERATION) X(CL_INVALID_BUFFER_SIZE) X(CL_INVALID_GLOBAL_WORK_SIZE) \
  X(CL_PLATFORM_NOT_FOUND_KHR)
// clang-format on

const char* error_name(cl_int code) {
  switch (code) {
#define TRINE_NAME(name) \
  case name: return #name;
    TRINE_OPENCL_ERRORS(TRINE_NAME)
#undef TRINE_NAME
    case -9999: return "an illegal read or write by a kernel";  // NVIDIA's own code
    default: return "an error that OpenCL doesn't name";
  }
}

trine_status status_of(cl_int code) {
  switch (code) {
    case CL_SUCCESS: return TRINE_OK;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY: return TRINE_OUT_OF_MEMORY;
    case CL_DEVICE_NOT_AVAILABLE: return TRINE_DEVICE_LOST;
    default: return TRINE_BACKEND_ERROR;
  }
}

void check(cl_int code, const char* call) {
  if (code == CL_SUCCESS) return;
  kit::fail(status_of(code), "opencl: %s failed: %s (%d)", call, error_name(code), code);
}

}  // namespace trine::opencl
