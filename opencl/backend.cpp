// The one symbol of the opencl backend's library.
#include "opencl/objects.hpp"
#include "opencl/vendors.hpp"

trine_status trine_backend_v1(const trine_host* host, const trine_backend** backend) {
  using namespace trine;
  static constexpr gpu::Driver kDriver = {
      gpu::kOpencl,
      "opencl",
      "OpenCL C 1.2 kernels, embedded",
      opencl::count_devices,
      opencl::is_candidate,
      opencl::describe_device,
      [](int index) -> trine_device* { return new opencl::Device(index); }};
  return gpu::enter(kDriver, host, backend);
}
