// The kernels' images, as a build brings them along: fatbins in the backend's library, lists of
// entries in the fault tests, where a fake driver reads them.
#pragma once

namespace trine::cuda {

/// The image of a kernel file ("reduce/naive") for cuModuleLoadData, or nullptr.
const void* image_of(const char* file);

}  // namespace trine::cuda
