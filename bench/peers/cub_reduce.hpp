// The interface between the pack cub (C++) and CUB's templates (CUDA C++).
#pragma once

#include <cuda_runtime_api.h>
#include <trine/ops.h>

#include <cstddef>

namespace trine::peers {

/// Enqueues the reduction; with `temp` null it sets `bytes` to what `temp` must hold.
cudaError_t reduce_by_cub(const trine_reduce& op, void* temp, size_t& bytes, cudaStream_t stream);

}  // namespace trine::peers
