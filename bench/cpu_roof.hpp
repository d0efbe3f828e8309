// What the host's cores can do at best: reading and copying memory, fused multiply-adds.
#pragma once

#include <trine/trine.hpp>

#include <cstdint>

namespace trine::bench {

/// bytes/s that `threads` threads read from, or copy within, `bytes` of memory together (a copy
/// counts what is read and what is written).
double cpu_read_rate(int threads, uint64_t bytes);
double cpu_copy_rate(int threads, uint64_t bytes);

/// flop/s of independent chains of multiply-adds (fused for floats) in the widest vectors, a step
/// being two.
double cpu_fma_rate(int threads, Dtype dtype);

}  // namespace trine::bench
