// The ladder of cpu's transpose, naive first, the default last.
#include "transpose/rows.hpp"

namespace trine::cpu {
namespace {

constexpr std::int64_t kTileValues[] = {32, 8, 16, 64};
constexpr Parameter kBlockedParameters[] = {{"tile", kTileValues}};

// About 20 µs of one thread's work.
bool is_small(const trine_transpose& op) {
  const trine_view& v = op.output;
  return v.rows < (1 << 18) && v.cols < (1 << 18) && v.batch < (1 << 18) &&
         v.rows * v.cols * v.batch * op.element_size < (1 << 17);
}

constexpr TransposeRung kRungs[] = {
    {"naive",
     "the definition: row by row of the output",
     TRINE_REPRODUCIBLE,
     {},
     nullptr,
     nullptr,
     transpose::run_naive,
     is_small},
    {"blocked", "square tiles that fit the first cache", TRINE_REPRODUCIBLE, kBlockedParameters,
     nullptr, nullptr, transpose::run_blocked, is_small},
    {"simd_streaming",
     "tiles transposed in registers, stores that bypass the cache",
     TRINE_REPRODUCIBLE,
     {},
     nullptr,
     nullptr,
     transpose::run_simd_streaming,
     is_small},
};

}  // namespace

std::span<const TransposeRung> transpose_rungs() { return kRungs; }

}  // namespace trine::cpu
