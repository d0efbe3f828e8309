// What a GPU's arithmetic units do at best.
#pragma once

#include <trine/trine.hpp>

#include <string>

namespace trine::bench {

/// flop/s of independent chains of multiply-adds (fused for floats), a step being two; the best of
/// the units that `dtype` can use with exact steps, named in `unit`: "fma" or "tensor". 0 where the
/// kernels can't run.
double gpu_fma_rate(const Device& device, Dtype dtype, std::string& unit);

}  // namespace trine::bench
