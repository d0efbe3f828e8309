// The reduce ladder of the CPU, naive first; the last row is the default.
#include "rungs.hpp"

namespace trine::cpu {

const char* plain_only(const trine_reduce& op, const std::int64_t*) {
  if (op.map == TRINE_PRODUCT) return "reduces one input; `exact` takes the two of a product";
  return trine_writes_states(&op) ? "rounds; `exact` writes the states of sums" : nullptr;
}

namespace {

// Elements side by side go by in vectors; what walks down columns or over gaps waits for memory.
double nanoseconds(const trine_reduce& op, int) {
  const double inputs = op.map == TRINE_PRODUCT ? 2 : 1;
  const double elements = inputs * double(op.input.rows) * double(op.input.cols);
  const bool beside = op.input.col_stride == 1 && op.axis != TRINE_EACH_COLUMN &&
                      op.function != TRINE_PROD && op.input.cols >= 256;
  return elements * (beside ? 0.05 * trine_dtype_size(op.dtype) : 1.2);
}

constexpr ReduceRung kRungs[] = {
    {row("sequential", "one thread, element after element in the result's precision", TRINE_STUDY),
     reduce_sequential, nanoseconds, nullptr, plain_only},
    {row("kokkos_range", "Kokkos's RangePolicy: a chunk of elements, or results, per thread",
         TRINE_STUDY),
     reduce_kokkos_range, nullptr, nullptr, plain_only},
    {row("kokkos_team", "Kokkos's TeamPolicy: a team per chunk, row or strip of columns",
         TRINE_STUDY),
     reduce_kokkos_team, nullptr, nullptr, plain_only},
    {row("simd", "vectors of running results on every thread", TRINE_STUDY), reduce_simd,
     nanoseconds, simd_workspace, plain_only},
    {row("exact", "bins of doubles and superaccumulators: the exact sum, rounded once",
         TRINE_REPRODUCIBLE),
     reduce_exact, nanoseconds, exact_workspace},
};

}  // namespace

std::span<const ReduceRung> reduce_rungs() { return kRungs; }

}  // namespace trine::cpu
