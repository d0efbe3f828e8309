// What hardware does at best, by loops and kernels of our own: the host's cores on memory and at
// multiply-adds; a GPU's arithmetic units, its memory, and what starting a kernel costs.
#pragma once

#include <trine/trine.hpp>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace trine::bench {

/// bytes/s that `threads` threads, one a core, read from `bytes` of memory together.
double cpu_read_rate(int threads, uint64_t bytes);
/// bytes/s that `threads` threads write to `bytes` of memory together.
double cpu_write_rate(int threads, uint64_t bytes);
/// bytes/s, read and written, of copying `source` bytes to one place after another of `target`
/// bytes.
double cpu_copy_rate(int threads, uint64_t source, uint64_t target);

/// flop/s of independent chains of multiply-adds (fused for floats) in the widest vectors, a step
/// being two.
double cpu_fma_rate(int threads, Dtype dtype);

/// The same where other programs have the cores in turn: what each thread reached at best, by
/// itself, added up. Threads of one core may have it in turn then, so it is a bound rather than a
/// rate.
double cpu_fma_bound(int threads, Dtype dtype);

/// flop/s of independent chains of multiply-adds (fused for floats), a step being two, on one kind
/// of unit: "fma" or "tensor" (f64). 0 where the kernels can't run.
double gpu_unit_rate(const Device& device, Dtype dtype, std::string_view unit);

/// bytes/s of a kernel that only reads ("read") or only writes ("write") `bytes` of memory.
double gpu_memory_rate(const Device& device, std::string_view what, uint64_t bytes);

/// The median time of `work` by the host's clock, of at least `count` times and for about
/// `seconds`.
double median_by_host(double seconds, int count, const std::function<void()>& work);

/// Seconds by the host's clock from enqueueing an empty kernel until the host knows that it is
/// done: the median of `count` times; 0 where it can't run.
double gpu_launch_seconds(const Device& device, int count);

}  // namespace trine::bench
