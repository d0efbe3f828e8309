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
/// bytes/s, read and written, of copying `source` bytes to one place after another of `target` bytes.
double cpu_copy_rate(int threads, uint64_t source, uint64_t target);

/// flop/s of independent chains of multiply-adds (fused for floats) in the widest vectors, a step
/// being two.
double cpu_fma_rate(int threads, Dtype dtype);

/// The same where other programs have the cores in turn: what each thread reached at best, by itself, added up. Threads
/// of one core may have it in turn then, so it is a bound rather than a rate.
double cpu_fma_bound(int threads, Dtype dtype);

/// Seconds of each pass of `threads` threads, one a core, which start it together: at least `least`, at most `most`,
/// as many as begin within `seconds`. `work(thread, pass)` is one thread's part. A pass lasts from the first
/// thread's start to the last one's end, whichever were delayed between.
std::vector<double> pass_seconds(int threads, int least, int most, double seconds,
                                 const std::function<void(int thread, int pass)>& work);
/// One thread's loops of these rates: reads `bytes` of memory; adds doubles there as an exact sum must, in halves (not what
/// doesn't fill four vectors); multiplies neighbours there as a binary tree must, level by level (not what doesn't fill 64
/// vectors of 8 lanes, 16 of 4; `ahead`: memory is called before it is read); copies them by plain stores or past the cache (`target` is aligned to 64 then); runs the chains
/// so many steps and returns their flops.
void read_words(const void* data, uint64_t bytes);
void add_halves(const void* doubles, uint64_t bytes);
void multiply_neighbours(const void* doubles, uint64_t bytes, bool ahead);
void copy_words(void* target, const void* source, uint64_t bytes, bool past_cache);
double multiply_adds(Dtype dtype, int64_t steps);
/// The same of f32 or f64 as a product's tile adds them: elements of A and vectors of B are loaded, all from the first cache.
double tile_multiply_adds(Dtype dtype, int64_t steps);

/// flop/s of independent chains of multiply-adds (fused for floats), a step being two, on one kind of
/// unit: "fma" or "tensor" (f64). 0 where the kernels can't run.
double gpu_unit_rate(const Device& device, Dtype dtype, std::string_view unit);

/// bytes/s of a kernel that only reads ("read") or only writes ("write") `bytes` of memory.
double gpu_memory_rate(const Device& device, std::string_view what, uint64_t bytes);

/// A kernel that only reads ("read") or copies ("copy", "copy past the caches", half to the other half) `bytes` of memory,
/// the next one of `sets` each time, or does nothing ("empty"), in 64 groups of one work-item with a share each, as a CPU
/// behind OpenCL likes it: launches it and waits.
/// Throws Error where it can't run.
std::function<void()> shared_out_kernel(const Device& device, std::string_view what, uint64_t bytes,
                                        int sets);

/// The median time of `work` by the host's clock, of at least `count` times and for about `seconds`.
double median_by_host(double seconds, int count, const std::function<void()>& work);

/// Seconds by the host's clock from enqueueing an empty kernel until the host knows that it is done: the median of
/// `count` times; 0 where it can't run.
double gpu_launch_seconds(const Device& device, int count);

}  // namespace trine::bench
