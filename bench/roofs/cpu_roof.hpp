// What the host's cores can do at best: reading, writing and copying memory, fused multiply-adds.
#pragma once

#include <trine/trine.hpp>

#include <cstdint>

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

}  // namespace trine::bench
