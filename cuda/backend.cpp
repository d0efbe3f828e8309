// The cuda backend: what abi_table.cpp needs of it.
#include "cuda/backend.hpp"

#include "backends/kit/host.hpp"
#include "cuda/objects.hpp"

namespace trine::cuda {
namespace {

trine_device* open_device(int index) { return new Device(index); }

constexpr gpu::Driver kDriver = {
    gpu::kCuda,    "cuda",          "kernels for architectures " TRINE_CUDA_ARCHITECTURES,
    count_devices, describe_device, open_device};

}  // namespace

const trine_backend* backend(const trine_host& host) {
  kit::use_host(host);
  return gpu::backend_of(kDriver);
}

}  // namespace trine::cuda
