// The files of /dev through which drivers reach a GPU. Without any, a driver needn't be loaded.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <string>

namespace trine::gpu {

/// NVIDIA's: on a server or workstation, on a Jetson, in Windows' subsystem for Linux.
inline constexpr const char* kNvidiaFiles[] = {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvmap",
                                               "/dev/dxg"};
/// All other GPUs': AMD's, those of phones, and Linux's common ones, /dev/dri/renderD128 to 191.
inline constexpr const char* kOtherFiles[] = {"/dev/kfd", "/dev/mali0", "/dev/kgsl-3d0",
                                              "/dev/pvr_sync"};

inline bool is_there(const char* file) { return access(file, F_OK) == 0; }

inline bool has_nvidia_file() { return std::ranges::any_of(kNvidiaFiles, is_there); }
inline bool has_other_file() {
  for (int node = 128; node < 192; ++node)
    if (is_there(("/dev/dri/renderD" + std::to_string(node)).c_str())) return true;
  return std::ranges::any_of(kOtherFiles, is_there);
}

}  // namespace trine::gpu
