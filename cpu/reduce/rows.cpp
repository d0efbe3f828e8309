// The reduce ladder of the CPU, naive first; the last row is the default.
#include "rows.hpp"

namespace trine::cpu {
namespace {

// Elements side by side go by in vectors; what walks down columns or over gaps waits for memory.
double nanoseconds(const trine_reduce& op) {
  const double elements = double(op.input.rows) * double(op.input.cols);
  const bool beside = op.input.col_stride == 1 && op.axis != TRINE_EACH_COLUMN &&
                      op.function != TRINE_PROD && op.input.cols >= 256;
  return elements * (beside ? 0.05 * trine_dtype_size(op.dtype) : 1.2);
}

constexpr ReduceRung kRungs[] = {
    {"sequential",
     "one thread, element after element in the result's precision",
     TRINE_STUDY,
     {},
     nullptr,
     nullptr,
     reduce_sequential,
     nanoseconds},
    {"kokkos_reduce",
     "a stretch of elements per thread, as `sequential` takes them",
     TRINE_STUDY,
     {},
     kokkos_refuses,
     kokkos_workspace,
     reduce_kokkos,
     nanoseconds},
    {"simd",
     "vectors of running results on every thread",
     TRINE_STUDY,
     {},
     nullptr,
     simd_workspace,
     reduce_simd,
     nanoseconds},
    {"exact",
     "bins of doubles and superaccumulators: the exact sum, rounded once",
     TRINE_REPRODUCIBLE,
     {},
     nullptr,
     exact_workspace,
     reduce_exact,
     nanoseconds},
};

}  // namespace

std::span<const ReduceRung> reduce_rungs() { return kRungs; }

}  // namespace trine::cpu
