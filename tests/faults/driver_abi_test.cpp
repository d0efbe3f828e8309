// Compares the driver's ABI as cuda/driver.hpp declares it with the toolkit's own cuda.h.
#include <cuda.h>

#include <cstddef>
#include <type_traits>

#include "cuda/driver.hpp"

namespace ours = trine::cuda;

static_assert(sizeof(ours::Pointer) == sizeof(CUdeviceptr));
static_assert(sizeof(ours::Result) == sizeof(CUresult) &&
              sizeof(ours::DeviceId) == sizeof(CUdevice));

#define SAME(mine, theirs) static_assert(static_cast<long>(ours::mine) == static_cast<long>(theirs))
SAME(kSuccess, CUDA_SUCCESS);
SAME(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(kDeinitialized, CUDA_ERROR_DEINITIALIZED);
SAME(kNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(kNotReady, CUDA_ERROR_NOT_READY);
SAME(kHostMemoryAlreadyRegistered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
SAME(kMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(kMaxPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
SAME(kClockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(kIntegrated, CU_DEVICE_ATTRIBUTE_INTEGRATED);
SAME(kPciBus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
SAME(kPciDevice, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
SAME(kMemoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME(kMemoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME(kPciDomain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
SAME(kComputeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(kComputeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(kMaxSharedOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(kMemoryPools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
SAME(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(kHostAllocPortable, CU_MEMHOSTALLOC_PORTABLE);
SAME(kHostAllocDeviceMap, CU_MEMHOSTALLOC_DEVICEMAP);
SAME(kHostRegisterPortable, CU_MEMHOSTREGISTER_PORTABLE);
SAME(kHostRegisterDeviceMap, CU_MEMHOSTREGISTER_DEVICEMAP);
SAME(kWaitValueGeq, CU_STREAM_WAIT_VALUE_GEQ);
SAME(kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(kMemoryHost, CU_MEMORYTYPE_HOST);
SAME(kMemoryUnified, CU_MEMORYTYPE_UNIFIED);
SAME(kAttributeMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(kAttributeOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME(kBeginsEarly, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME(kMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);

static_assert(sizeof(ours::Copy2D) == sizeof(CUDA_MEMCPY2D));
#define SAME_PLACE(mine, theirs) \
  static_assert(offsetof(ours::Copy2D, mine) == offsetof(CUDA_MEMCPY2D, theirs))
SAME_PLACE(source_type, srcMemoryType);
SAME_PLACE(source_host, srcHost);
SAME_PLACE(source_device, srcDevice);
SAME_PLACE(source_pitch, srcPitch);
SAME_PLACE(target_x, dstXInBytes);
SAME_PLACE(target_type, dstMemoryType);
SAME_PLACE(target_host, dstHost);
SAME_PLACE(target_device, dstDevice);
SAME_PLACE(target_pitch, dstPitch);
SAME_PLACE(width, WidthInBytes);
SAME_PLACE(height, Height);

static_assert(sizeof(ours::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(ours::LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(ours::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(ours::LaunchConfig, block) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(ours::LaunchConfig, dynamic_bytes) ==
              offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(ours::LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(ours::LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(ours::LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));

// Every symbol that the table looks up is declared by cuda.h, with as many parameters of the same
// sizes.
template <class>
struct Shape;
template <class Result, class... Parameters>
struct Shape<Result (*)(Parameters...)> {
  static constexpr std::size_t count = sizeof...(Parameters);
  static constexpr bool fits(const std::size_t* sizes) {
    std::size_t at = 0;
    return ((sizeof(Parameters) == sizes[at++]) && ... && true);
  }
  static constexpr std::size_t sizes[count ? count : 1] = {sizeof(Parameters)...};
};
template <class Mine, class Theirs>
constexpr bool same_shape() {
  if constexpr (Shape<Mine>::count != Shape<Theirs>::count) {
    return false;
  } else {
    return Shape<Mine>::fits(Shape<Theirs>::sizes);
  }
}

#define CHECK(member, symbol, parameters) \
  static_assert(same_shape<decltype(ours::Driver::member), decltype(&::symbol)>(), #symbol);
TRINE_CUDA_FUNCTIONS(CHECK)

int main() { return 0; }
