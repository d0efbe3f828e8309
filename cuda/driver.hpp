// CUDA's driver as a table of function pointers (backends/kit/driver_table.hpp).
//
// The few declarations of the driver's ABI that Trine needs stand here, so that the host code is
// built and tested where there is no CUDA toolkit; tests/faults compares them with cuda.h where
// there is one. Names are the macro-expanded ones ("_v2"): the plain ones are older functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/abi.h"

namespace trine::cuda {

using Result = int;
using DeviceId = int;
using Pointer = unsigned long long;  // CUdeviceptr
using Context = struct CUctx_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;
using Stream = struct CUstream_st*;
using NativeEvent = struct CUevent_st*;
using StreamCallback = void (*)(Stream, Result, void*);

enum : Result {
  kSuccess = 0,
  kOutOfMemory = 2,
  kDeinitialized = 4,
  kNoDevice = 100,
  kNotReady = 600,
  kHostMemoryAlreadyRegistered = 712,
};

enum : int {  // CUdevice_attribute
  kMaxThreadsPerBlock = 1,
  kMaxPitch = 11,
  kClockRate = 13,
  kMultiprocessorCount = 16,
  kIntegrated = 18,
  kPciBus = 33,
  kPciDevice = 34,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kPciDomain = 50,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kMaxSharedOptin = 97,
  kMemoryPools = 115,
};

enum : unsigned {
  kStreamNonBlocking = 1,
  kHostAllocPortable = 1,
  kHostAllocDeviceMap = 2,
  kHostRegisterPortable = 1,
  kHostRegisterDeviceMap = 2,
  kWaitValueGeq = 0,
};
enum : int { kCaptureRelaxed = 2 };                  // CUstreamCaptureMode
enum : int { kMemoryHost = 1, kMemoryUnified = 4 };  // CUmemorytype
enum : int {
  kAttributeMemoryType = 2,
  kAttributeOrdinal = 9,
  kAttributeRangeStart = 11,
  kAttributeRangeSize = 12
};                                     // CUpointer_attribute
enum : int { kMaxDynamicShared = 8 };  // CUfunction_attribute
enum : int { kBeginsEarly = 6 };       // CUlaunchAttributeID: programmatic stream serialization

struct LaunchAttribute {  // CUlaunchAttribute
  int id;
  alignas(8) int value;
  char unused[60];
};
struct LaunchConfig {  // CUlaunchConfig
  unsigned grid[3], block[3], dynamic_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

struct Copy2D {  // CUDA_MEMCPY2D
  std::size_t source_x, source_y;
  int source_type;
  const void* source_host;
  Pointer source_device;
  void* source_array;
  std::size_t source_pitch;
  std::size_t target_x, target_y;
  int target_type;
  void* target_host;
  Pointer target_device;
  void* target_array;
  std::size_t target_pitch;
  std::size_t width, height;
};

// Name of the member, symbol of the driver, parameters.
#define TRINE_CUDA_FUNCTIONS(X)                                                              \
  X(cuInit, cuInit, (unsigned))                                                              \
  X(cuDriverGetVersion, cuDriverGetVersion, (int*))                                          \
  X(cuGetErrorName, cuGetErrorName, (Result, const char**))                                  \
  X(cuGetErrorString, cuGetErrorString, (Result, const char**))                              \
  X(cuDeviceGetCount, cuDeviceGetCount, (int*))                                              \
  X(cuDeviceGet, cuDeviceGet, (DeviceId*, int))                                              \
  X(cuDeviceGetName, cuDeviceGetName, (char*, int, DeviceId))                                \
  X(cuDeviceGetUuid, cuDeviceGetUuid_v2, (unsigned char*, DeviceId))                         \
  X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (std::size_t*, DeviceId))                         \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int*, int, DeviceId))                       \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (Context*, DeviceId))                \
  X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (DeviceId))                     \
  X(cuCtxGetCurrent, cuCtxGetCurrent, (Context*))                                            \
  X(cuCtxPushCurrent, cuCtxPushCurrent_v2, (Context))                                        \
  X(cuCtxPopCurrent, cuCtxPopCurrent_v2, (Context*))                                         \
  X(cuStreamCreate, cuStreamCreate, (Stream*, unsigned))                                     \
  X(cuStreamDestroy, cuStreamDestroy_v2, (Stream))                                           \
  X(cuStreamQuery, cuStreamQuery, (Stream))                                                  \
  X(cuStreamSynchronize, cuStreamSynchronize, (Stream))                                      \
  X(cuStreamIsCapturing, cuStreamIsCapturing, (Stream, int*))                                \
  X(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, (int*))            \
  X(cuStreamGetCtx, cuStreamGetCtx, (Stream, Context*))                                      \
  X(cuStreamWaitEvent, cuStreamWaitEvent, (Stream, NativeEvent, unsigned))                   \
  X(cuStreamWaitValue32, cuStreamWaitValue32_v2, (Stream, Pointer, uint32_t, unsigned))      \
  X(cuStreamAddCallback, cuStreamAddCallback, (Stream, StreamCallback, void*, unsigned))     \
  X(cuEventCreate, cuEventCreate, (NativeEvent*, unsigned))                                  \
  X(cuEventDestroy, cuEventDestroy_v2, (NativeEvent))                                        \
  X(cuEventRecord, cuEventRecord, (NativeEvent, Stream))                                     \
  X(cuEventQuery, cuEventQuery, (NativeEvent))                                               \
  X(cuEventSynchronize, cuEventSynchronize, (NativeEvent))                                   \
  X(cuEventElapsedTime, cuEventElapsedTime, (float*, NativeEvent, NativeEvent))              \
  X(cuMemAlloc, cuMemAlloc_v2, (Pointer*, std::size_t))                                      \
  X(cuMemFree, cuMemFree_v2, (Pointer))                                                      \
  X(cuMemAllocAsync, cuMemAllocAsync, (Pointer*, std::size_t, Stream))                       \
  X(cuMemFreeAsync, cuMemFreeAsync, (Pointer, Stream))                                       \
  X(cuMemHostAlloc, cuMemHostAlloc, (void**, std::size_t, unsigned))                         \
  X(cuMemFreeHost, cuMemFreeHost, (void*))                                                   \
  X(cuMemHostRegister, cuMemHostRegister_v2, (void*, std::size_t, unsigned))                 \
  X(cuMemHostUnregister, cuMemHostUnregister, (void*))                                       \
  X(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, (Pointer*, void*, unsigned))    \
  X(cuPointerGetAttributes, cuPointerGetAttributes, (unsigned, const int*, void**, Pointer)) \
  X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (Pointer, const void*, std::size_t, Stream))    \
  X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void*, Pointer, std::size_t, Stream))          \
  X(cuMemcpyAsync, cuMemcpyAsync, (Pointer, Pointer, std::size_t, Stream))                   \
  X(cuMemcpy2DAsync, cuMemcpy2DAsync_v2, (const Copy2D*, Stream))                            \
  X(cuMemsetD8Async, cuMemsetD8Async, (Pointer, unsigned char, std::size_t, Stream))         \
  X(cuMemsetD16Async, cuMemsetD16Async, (Pointer, unsigned short, std::size_t, Stream))      \
  X(cuMemsetD32Async, cuMemsetD32Async, (Pointer, unsigned, std::size_t, Stream))            \
  X(cuModuleLoadData, cuModuleLoadData, (Module*, const void*))                              \
  X(cuModuleUnload, cuModuleUnload, (Module))                                                \
  X(cuModuleGetFunction, cuModuleGetFunction, (Function*, Module, const char*))              \
  X(cuFuncSetAttribute, cuFuncSetAttribute, (Function, int, int))                            \
  X(cuLaunchKernel, cuLaunchKernel,                                                          \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, \
     void**, void**))                                                                        \
  X(cuLaunchKernelEx, cuLaunchKernelEx, (const LaunchConfig*, Function, void**, void**))

struct Driver {
#define TRINE_MEMBER(name, symbol, parameters) Result(*name) parameters;
  TRINE_CUDA_FUNCTIONS(TRINE_MEMBER)
#undef TRINE_MEMBER
};

/// The table in use, loaded at the first call; nullptr with a reason where there is no driver.
const Driver* find_driver(const char** reason);
bool has_driver();  ///< Whether one was found before, or put there.
/// The same where one was found before: behind an open device.
const Driver& driver();
/// Puts `table` in the driver's place (tests); nullptr gives it back.
void replace_driver(const Driver* table);

trine_status status_of(Result code);
/// After such an error nothing works in this process any more.
bool is_sticky(Result code);
/// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered (700)".
struct ErrorText {
  explicit ErrorText(Result code);
  char text[200];
};

/// Throws unless `code` is kSuccess.
void check(Result code, const char* call);

/// The image of a kernel file ("reduce/naive") for cuModuleLoadData, or nullptr: a fatbin in the
/// backend's library, a list of entries in the fault tests, where a fake driver reads it.
const void* image_of(const char* file);

}  // namespace trine::cuda
