// The OpenCL loader as a table of function pointers (backends/kit/driver_table.hpp).
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "backends/kit/error.hpp"

namespace trine::opencl {

// clang-format off
#define TRINE_OPENCL_FUNCTIONS(X) \
  X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) \
  X(clCreateContext) X(clRetainContext) X(clReleaseContext) X(clCreateCommandQueue) \
  X(clRetainCommandQueue) X(clReleaseCommandQueue) X(clGetCommandQueueInfo) X(clFlush) \
  X(clFinish) X(clCreateBuffer) X(clRetainMemObject) X(clReleaseMemObject) \
  X(clGetMemObjectInfo) X(clEnqueueMapBuffer) X(clEnqueueUnmapMemObject) \
  X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer) X(clEnqueueCopyBuffer) \
  X(clEnqueueReadBufferRect) X(clEnqueueWriteBufferRect) X(clEnqueueCopyBufferRect) \
  X(clEnqueueFillBuffer) X(clCreateProgramWithSource) X(clCreateProgramWithBinary) \
  X(clBuildProgram) X(clGetProgramBuildInfo) X(clGetProgramInfo) X(clReleaseProgram) \
  X(clCreateKernel) X(clReleaseKernel) X(clSetKernelArg) X(clEnqueueNDRangeKernel) \
  X(clEnqueueMarkerWithWaitList) X(clEnqueueBarrierWithWaitList) X(clCreateUserEvent) \
  X(clSetUserEventStatus) X(clSetEventCallback) X(clWaitForEvents) X(clGetEventInfo) \
  X(clGetEventProfilingInfo) X(clRetainEvent) X(clReleaseEvent)
// clang-format on

struct Driver {
#define TRINE_MEMBER(name) decltype(&::name) name;
  TRINE_OPENCL_FUNCTIONS(TRINE_MEMBER)
#undef TRINE_MEMBER
};

/// The table in use, loaded at the first call; nullptr with a reason where there is no loader.
const Driver* find_driver(const char** reason);
bool has_driver();  ///< Whether one was found before, or put there.
/// The same where one was found before: behind an open device.
const Driver& driver();
/// Puts `table` in the loader's place (tests); nullptr gives it back.
void replace_driver(const Driver* table);

/// "CL_OUT_OF_RESOURCES".
const char* error_name(cl_int code);
trine_status status_of(cl_int code);

/// Throws unless `code` is CL_SUCCESS: "opencl: clFinish failed: CL_OUT_OF_RESOURCES (-5)".
void check(cl_int code, const char* call);

}  // namespace trine::opencl
