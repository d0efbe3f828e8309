// gemm, computed as the design's chain: acc = fma(a_ik, b_kj, acc) with k ascending, one result at
// a time in meaning, many side by side in execution. An exact gemm is computed as what it is: the
// real number, rounded once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/ops.h"

namespace trine::oracle {

/// Computes all of C in place, on views of host memory.
void reference(const trine_gemm& op);

struct Position {
  int64_t batch, row, col;
};

/// The positions that are checked if all of C would take too long: corners, edges, random ones.
std::vector<Position> sample_positions(const trine_view& c, int64_t count, uint64_t seed);

/// The results at these positions, one after the other in memory of op.dtype; C is read, not
/// written.
void reference_at(const trine_gemm& op, std::span<const Position> positions, void* results);

/// The largest distance of results from the real numbers, in units of these numbers' last place; at
/// most 0.5 where each is rounded once. C holds its values from before the operation.
double most_ulps(const trine_gemm& op, const trine_view& got);

/// How exact a rung's arithmetic is.
struct Exactness {
  double unit;         ///< what one of its steps may be off by, relative to the products' sizes
  double operand = 0;  ///< what it may take off an operand, however small that is
};

/// How far each element of C (batch, row, column order) of a rung with another order of operations,
/// or other arithmetic, may lie from the chain's. C holds its values from before the operation.
std::vector<double> error_bounds(const trine_gemm& op, const Exactness& exactness);
/// The same at chosen positions.
std::vector<double> error_bounds_at(const trine_gemm& op, std::span<const Position> positions,
                                    const Exactness& exactness);

}  // namespace trine::oracle
