// CUDA's current device, for packs that call its runtime.
#pragma once

#include <cuda_runtime_api.h>

namespace trine::peers {

/// Makes the device's primary context current for a call, and gives the caller's back.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    cudaGetDevice(&previous_);
    cudaSetDevice(device);
  }
  ~CurrentDevice() { cudaSetDevice(previous_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int previous_ = 0;
};

}  // namespace trine::peers
