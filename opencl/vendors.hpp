// Which drivers the OpenCL loader would load, and whether one of them may drive a GPU: found from
// the files that name them, without loading any.
#pragma once

#include <string_view>

#include "backends/kit/host.hpp"

namespace trine::opencl {

/// The libraries that the loader's files name, one a driver ("libpocl.so.2"): those of
/// /etc/OpenCL/vendors, or those that OCL_ICD_VENDORS, OPENCL_VENDOR_PATH and OCL_ICD_FILENAMES say
/// instead or besides.
kit::Vector<kit::String> vendors();

/// Whether the driver is known to drive the CPU alone, by its library's name.
bool drives_the_cpu(std::string_view library);

/// For `auto`: a driver that isn't known to drive the CPU, and a device file of some GPU, but not
/// of NVIDIA's alone where other backends have `gpus` of them. A driver that nobody knows thus
/// counts where there is a GPU that it may drive. Where no file names a driver the loader's library
/// may be one itself.
bool is_candidate(int gpus);

/// The device files that are there.
struct GpuFiles {
  bool nvidia, others;
};
bool is_candidate(const kit::Vector<kit::String>& vendors, GpuFiles files, int gpus);

}  // namespace trine::opencl
