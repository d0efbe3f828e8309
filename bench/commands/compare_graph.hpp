// Kernels alone, replayed from a CUDA graph: `trine compare --graph`.
#pragma once

#include "bench/timing/expectation.hpp"
#include "bench/timing/result.hpp"

namespace trine::bench {

/// A result for each rung ("": the device's own choice), without a roof. Throws Refusal where there
/// is no CUDA driver with graphs.
std::vector<Result> measure_in_graphs(const Device& device, const Problem& problem,
                                      const std::vector<std::string>& rungs,
                                      Expectation& expectation);

}  // namespace trine::bench
