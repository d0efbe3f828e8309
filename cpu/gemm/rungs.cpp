// The ladder of cpu's gemm, naive first, the default last.
#include "gemm/rungs.hpp"

#include "gemm/in_place.hpp"
#include "gemm/problem.hpp"

namespace trine::cpu {
namespace {

// f32 4096 on 2 cores of a Xeon, ms: 512 327, 1024 323 (on one 668, 649), 2048 16 more than 1024; f64 1024, 2048 of 512's
// rate 1.04. 16 is for tests.
constexpr const char* kBlockValues[] = {"1024", "16", "256", "384", "512"};
constexpr trine_parameter kMicroKernelParameters[] = {parameter("k_block", kBlockValues)};

constexpr const char* kTileValues[] = {"64", "16", "32", "128", "256"};
constexpr trine_parameter kBlockedParameters[] = {parameter("tile", kTileValues)};

double products(const trine_gemm& op) {
  const double depth = gemm::depth(op) != 0 ? double(op.a.cols) + 4 : 1;
  return double(op.c.rows) * double(op.c.cols) * double(op.c.batch) * depth;
}

// With vectors, but not always with all of their lanes.
double nanoseconds(const trine_gemm& op) { return 0.3 * products(op); }

// 80 products a nanosecond of f32: 64 x 64 x 64 by AVX-512 takes 0.0075 ns each, which few elements to pack
// or to write don't change; of i32 in place 23; and 12 for the ends of each product: 20,000 of 4 x 4 take 330 us on one thread.
// Where a product calls for its operands they may lie in memory: 128^3 of f32 takes 1.4 times as long then on 2 cores, 2.4 on 16.
double packed_nanoseconds(const trine_gemm& op) {
  const std::int64_t size = trine_dtype_size(op.dtype);
  const double far = op.a.cols * op.c.cols * size > gemm::kCalledAlone ? 2 : 1;
  const double each = op.dtype == TRINE_I32 ? 0.043 : double(size) / 4 * 0.0125;
  return far * each * products(op) + 12 * double(op.c.batch);
}

// All of them continue chains.
constexpr trine_rung row(const char* name, const char* summary,
                         std::span<const trine_parameter> parameters = {}) {
  return cpu::row(name, summary, TRINE_REPRODUCIBLE, parameters, TRINE_CONTINUES);
}

constexpr GemmRung kRungs[] = {
    {row("naive", "the definition: one result at a time, i, j, k"), gemm::run_naive, nanoseconds},
    {row("ikj", "the inner loop along the rows of B and C, by whole vectors"), gemm::run_ikj,
     nanoseconds, gemm::ikj_workspace_bytes},
    {row("blocked", "ikj within square tiles that stay in the first cache", kBlockedParameters),
     gemm::run_blocked, nanoseconds, gemm::blocked_workspace_bytes},
    {row("kokkos", "a league of strips of C, partials in the lanes' registers"), gemm::run_kokkos,
     nanoseconds},
    {row("micro_kernel", "packed panels, a SIMD register tile, all of k in one chain",
         kMicroKernelParameters),
     gemm::run_micro_kernel, packed_nanoseconds, gemm::micro_kernel_workspace_bytes},
};

}  // namespace

std::span<const GemmRung> gemm_rungs() { return kRungs; }

}  // namespace trine::cpu
