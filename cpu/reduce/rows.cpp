// The reduce ladder of the CPU, naive first; the last row is the default.
#include "rows.hpp"

namespace trine::cpu {
namespace {

// At most 15 to 50 µs of one core's work: below it, waking the pool costs more than it saves (20 µs
// on idle cores, far more where other programs compete for them).
bool is_small(const trine_reduce& op) { return op.input.rows * op.input.cols <= (1 << 16); }

constexpr ReduceRung kRungs[] = {
    {"sequential",
     "one thread, element after element in the result's precision",
     TRINE_STUDY,
     {},
     nullptr,
     nullptr,
     reduce_sequential,
     is_small},
    {"kokkos_reduce",
     "a stretch of elements per thread, as `sequential` takes them",
     TRINE_STUDY,
     {},
     kokkos_refuses,
     kokkos_workspace,
     reduce_kokkos,
     is_small},
    {"simd",
     "vectors of running results on every thread",
     TRINE_STUDY,
     {},
     nullptr,
     simd_workspace,
     reduce_simd,
     is_small},
    {"exact",
     "bins of doubles and superaccumulators: the exact sum, rounded once",
     TRINE_REPRODUCIBLE,
     {},
     nullptr,
     exact_workspace,
     reduce_exact,
     is_small},
};

}  // namespace

std::span<const ReduceRung> reduce_rungs() { return kRungs; }

}  // namespace trine::cpu
