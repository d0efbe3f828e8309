// The best that hardware does, by loops and kernels of our own: the host's cores on memory and at
// multiply-adds; a GPU's arithmetic units and its memory.
#pragma once

#include <trine/trine.hpp>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace trine::bench {

/// bytes/s that `threads` threads, one a core, read from `bytes` of memory together.
double cpu_read_rate(int threads, uint64_t bytes);
/// bytes/s, read and written, of copying `source` bytes to one place after another of `target`
/// bytes.
double cpu_copy_rate(int threads, uint64_t source, uint64_t target);

/// flop/s of independent chains of multiply-adds (fused for floats) in the widest vectors, a step
/// being two.
double cpu_fma_rate(int threads, Dtype dtype);

/// flop/s of independent chains of multiply-adds (fused for floats), a step being two, on one kind
/// of unit: "fma" or "tensor" (f64). 0 where the kernels can't run.
double gpu_unit_rate(const Device& device, Dtype dtype, std::string_view unit);

/// bytes/s of a kernel that only reads `bytes` of memory.
double gpu_read_rate(const Device& device, uint64_t bytes);

/// The least that `once` returns, of several times in about 60 ms: a roof is what the machine can
/// do, not what it averages.
double least_seconds(const std::function<double()>& once);

}  // namespace trine::bench
