// The ladder of cpu's transpose, naive first, the default last.
#include "transpose/rungs.hpp"

namespace trine::cpu {
namespace {

constexpr const char* kTileValues[] = {"32", "8", "16", "64"};
constexpr trine_parameter kBlockedParameters[] = {parameter("tile", kTileValues)};

template <int kPicoseconds>  // a byte
double nanoseconds(const trine_transpose& op, int) {
  const trine_view& v = op.output;
  return 1e-3 * kPicoseconds * double(v.rows) * double(v.cols) * double(v.batch) * op.element_size;
}

constexpr TransposeRung kRungs[] = {
    {row("naive", "the definition: row by row of the output", TRINE_REPRODUCIBLE),
     transpose::run_naive, nanoseconds<600>},
    {row("blocked", "square tiles that fit the first cache", TRINE_REPRODUCIBLE,
         kBlockedParameters),
     transpose::run_blocked, nanoseconds<600>},
    {row("kokkos_mdrange", "Kokkos's MDRangePolicy with square tiles, over strided Views",
         TRINE_REPRODUCIBLE, kBlockedParameters),
     transpose::run_kokkos_mdrange, nullptr},
    {row("simd_streaming", "tiles transposed in registers, stores that bypass the cache",
         TRINE_REPRODUCIBLE),
     // f64 on one thread: 128^2 29 and 256^2 31 from the caches, 220 and 330 from memory.
     transpose::run_simd_streaming, nanoseconds<200>, transpose::simd_streaming_workspace_bytes},
};

}  // namespace

std::span<const TransposeRung> transpose_rungs() { return kRungs; }

}  // namespace trine::cpu
