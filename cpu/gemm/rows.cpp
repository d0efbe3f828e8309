// The ladder of cpu's gemm, naive first, the default last.
#include "gemm/rows.hpp"

#include "gemm/problem.hpp"

namespace trine::cpu {
namespace {

constexpr std::int64_t kBlockValues[] = {384, 16, 256, 512, 1024};
constexpr Parameter kMicroKernelParameters[] = {{"k_block", kBlockValues}};

// About 20 µs of one thread's work, at a tenth of micro_kernel's best rate.
bool is_small(const trine_gemm& op) {
  const std::int64_t results = op.c.rows * op.c.cols;
  if (results > (1 << 16) || op.a.cols > (1 << 16) || op.c.batch > (1 << 16)) return false;
  const std::int64_t depth = gemm::has_product(op) ? op.a.cols + 4 : 1;
  return results * op.c.batch * depth < (1 << 18);
}

constexpr GemmRung kRungs[] = {
    {"naive", "the definition: one result at a time, i, j, k", TRINE_REPRODUCIBLE, {}, nullptr,
     nullptr, gemm::run_naive, is_small},
    {"micro_kernel", "packed panels, a SIMD register tile, all of k in one chain",
     TRINE_REPRODUCIBLE, kMicroKernelParameters, nullptr, gemm::micro_kernel_workspace_bytes,
     gemm::run_micro_kernel, is_small},
};

}  // namespace

std::span<const GemmRung> gemm_rungs() { return kRungs; }

}  // namespace trine::cpu
