// The one symbol of the cuda backend's library.
#include "cuda/objects.hpp"

trine_status trine_backend_v1(const trine_host* host, const trine_backend** backend) {
  using namespace trine;
  static constexpr gpu::Driver kDriver = {
      gpu::kCuda,
      "cuda",
      "kernels for architectures " TRINE_CUDA_ARCHITECTURES,
      cuda::count_devices,
      cuda::is_candidate,
      cuda::describe_device,
      [](int index) -> trine_device* { return new cuda::Device(index); }};
  return gpu::enter(kDriver, host, backend);
}
