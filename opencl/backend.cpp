// The opencl backend: what abi_table.cpp needs of it.
#include "opencl/backend.hpp"

#include "backends/kit/host.hpp"
#include "opencl/objects.hpp"

namespace trine::opencl {
namespace {

trine_device* open_device(int index) { return new Device(index); }

constexpr gpu::Driver kDriver = {gpu::kOpencl,  "opencl",        "OpenCL C 1.2 kernels, embedded",
                                 count_devices, describe_device, open_device};

}  // namespace

const trine_backend* backend(const trine_host& host) {
  kit::use_host(host);
  return gpu::backend_of(kDriver);
}

}  // namespace trine::opencl
