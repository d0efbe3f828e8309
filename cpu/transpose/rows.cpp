// The ladder of cpu's transpose, naive first, the default last.
#include "transpose/rows.hpp"

namespace trine::cpu {
namespace {

constexpr std::int64_t kTileValues[] = {32, 8, 16, 64};
constexpr Parameter kBlockedParameters[] = {{"tile", kTileValues}};

double nanoseconds(const trine_transpose& op) {
  const trine_view& v = op.output;
  return 0.6 * double(v.rows) * double(v.cols) * double(v.batch) * op.element_size;
}

constexpr TransposeRung kRungs[] = {
    {"naive",
     "the definition: row by row of the output",
     TRINE_REPRODUCIBLE,
     {},
     nullptr,
     nullptr,
     transpose::run_naive,
     nanoseconds},
    {"blocked", "square tiles that fit the first cache", TRINE_REPRODUCIBLE, kBlockedParameters,
     nullptr, nullptr, transpose::run_blocked, nanoseconds},
    {"simd_streaming",
     "tiles transposed in registers, stores that bypass the cache",
     TRINE_REPRODUCIBLE,
     {},
     nullptr,
     nullptr,
     transpose::run_simd_streaming,
     nanoseconds},
};

}  // namespace

std::span<const TransposeRung> transpose_rungs() { return kRungs; }

}  // namespace trine::cpu
