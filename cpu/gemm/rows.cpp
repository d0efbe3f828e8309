// The ladder of cpu's gemm, naive first, the default last.
#include "gemm/rows.hpp"

#include "gemm/problem.hpp"

namespace trine::cpu {
namespace {

// sgemm 2048 on one AVX-512 core, of OpenBLAS: 192 0.81, 256 0.86, 384 0.87, 512 0.87, 1024 0.9 with
// a wide spread; dgemm alike. 384 keeps a panel of B (48 KiB) near the first cache. 16 is for tests.
constexpr std::int64_t kBlockValues[] = {384, 16, 256, 512, 1024};
constexpr Parameter kMicroKernelParameters[] = {{"k_block", kBlockValues}};

constexpr std::int64_t kTileValues[] = {64, 16, 32, 128, 256};
constexpr Parameter kBlockedParameters[] = {{"tile", kTileValues}};

// About 20 µs of one thread's work, at a tenth of micro_kernel's best rate.
bool is_small(const trine_gemm& op) {
  const std::int64_t results = op.c.rows * op.c.cols;
  if (results > (1 << 16) || op.a.cols > (1 << 16) || op.c.batch > (1 << 16)) return false;
  const std::int64_t depth = gemm::has_product(op) ? op.a.cols + 4 : 1;
  return results * op.c.batch * depth < (1 << 18);
}

constexpr GemmRung kRungs[] = {
    {"naive",
     "the definition: one result at a time, i, j, k",
     TRINE_REPRODUCIBLE,
     {},
     nullptr,
     nullptr,
     gemm::run_naive,
     is_small},
    {"ikj",
     "the inner loop along the rows of B and C, by whole vectors",
     TRINE_REPRODUCIBLE,
     {},
     nullptr,
     gemm::ikj_workspace_bytes,
     gemm::run_ikj,
     is_small},
    {"blocked", "ikj within square tiles that stay in the first cache", TRINE_REPRODUCIBLE,
     kBlockedParameters, nullptr, gemm::blocked_workspace_bytes, gemm::run_blocked, is_small},
    {"kokkos",
     "a league of strips of C, partials in the lanes' registers",
     TRINE_REPRODUCIBLE,
     {},
     nullptr,
     nullptr,
     gemm::run_kokkos,
     is_small},
    {"micro_kernel", "packed panels, a SIMD register tile, all of k in one chain",
     TRINE_REPRODUCIBLE, kMicroKernelParameters, nullptr, gemm::micro_kernel_workspace_bytes,
     gemm::run_micro_kernel, is_small},
};

}  // namespace

std::span<const GemmRung> gemm_rungs() { return kRungs; }

}  // namespace trine::cpu
