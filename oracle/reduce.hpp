// reduce, computed plainly from the design's words: the exact sum rounded once, the fixed tree of
// products, the total order of minima and maxima.
//
// Views point at host memory (trine_view::memory is a host pointer).
#pragma once

#include <vector>

#include "backends/ops.h"

namespace trine::oracle {

/// Computes every result of the operation into its output view.
void reference(const trine_reduce& op);

/// How far each result of a `study` or `fast` rung may lie from the exact one (sum and prod of
/// floats). Infinite where an intermediate result may overflow or underflow in some order.
std::vector<double> error_bounds(const trine_reduce& op);

/// The dtype and the length that the operation's result must have.
uint32_t result_dtype(uint32_t function, uint32_t map, uint32_t dtype);
int64_t result_count(uint32_t axis, int64_t rows, int64_t cols);

}  // namespace trine::oracle
