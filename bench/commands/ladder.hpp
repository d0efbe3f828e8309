// The ladders: every rung of an operation in its order, and the source documents' tables again.
#pragma once

#include <string>
#include <vector>

#include "bench/published/tables.hpp"
#include "bench/timing/best.hpp"
#include "bench/timing/side_by_side.hpp"

namespace trine::bench {

/// Measures and prints one ladder: rung, time, rate, step and cumulative speed-up, share of the
/// roof.
void climb(LadderRun& run, const Runner& runner, const Problem& problem,
           const std::vector<std::string>& rungs);

/// Measures and prints a document's tables of these operations on one device, published figures
/// beside today's.
void reproduce(LadderRun& run, const Device& device, const Publication& document,
               const std::vector<Operation>& operations);

/// Measures and prints how the pattern of access decides the bandwidth: strides and offsets,
/// padding of tiles, reuse by tile width, structures of arrays against arrays of structures.
void show_access(LadderRun& run, const std::vector<Device>& devices);

/// Prints the kernel texts of a rung or a header, CUDA's and then OpenCL's. Refuses a name that
/// there isn't.
int show_source(const std::string& rung, const std::vector<Operation>& operations);

}  // namespace trine::bench
