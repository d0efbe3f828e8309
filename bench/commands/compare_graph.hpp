// Kernels alone, replayed from a CUDA graph: `trine compare --graph`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/cases/problem.hpp"
#include "bench/ui/control.hpp"

namespace trine::bench {

/// Prints a table of the problems, each by the rungs that `rungs_of` names for it ("": the device's
/// own choice), and returns the command's exit code: kExitFailed where an output is wrong or no
/// rung takes a problem. Throws Refusal where there is no CUDA driver with graphs.
int compare_in_graphs(const Device& device, const std::vector<Problem>& problems,
                      const std::function<std::vector<std::string>(const Problem&)>& rungs_of,
                      uint64_t seed, Control& control);

}  // namespace trine::bench
