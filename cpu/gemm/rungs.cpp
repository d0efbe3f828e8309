// The ladder of cpu's gemm, naive first. The default is micro_kernel, and residues where it pays.
#include "gemm/rungs.hpp"

#include <algorithm>

#include "gemm/problem.hpp"

namespace trine::cpu {
namespace {

// 1024 is the fastest, or within a few percent of it. 16 is for tests.
constexpr const char* kBlockValues[] = {"1024", "16", "256", "384", "512"};
constexpr trine_parameter kMicroKernelParameters[] = {parameter("k_block", kBlockValues)};

constexpr const char* kTileValues[] = {"64", "16", "32", "128", "256"};
constexpr trine_parameter kBlockedParameters[] = {parameter("tile", kTileValues)};

double products(const trine_gemm& op) {
  const double depth = gemm::depth(op) != 0 ? double(op.a.cols) + 4 : 1;
  return double(op.c.rows) * double(op.c.cols) * double(op.c.batch) * depth;
}

// With vectors, but not always with all of their lanes.
double nanoseconds(const trine_gemm& op, int) { return 0.3 * products(op); }

// An estimate: one thread does 80 multiply-adds of f32 in a nanosecond, 40 of f64 and of exact f32,
// 10 of exact f64, 23 of i32 in place, and needs 12 ns for the beginning and end of each product.
// Products of 11 us or more, and batches of 22, wake threads, although they gain less than waking
// costs, because the next call finds the threads awake (docs/decisions/products-on-cpus.md).
// Shorter products lose by it, and so does one tile. kLongEnough is more than twice the longest
// hand-over (kMost in executor.cpp).
double packed_nanoseconds(const trine_gemm& op, int threads) {
  constexpr double kWorthWaking = 11e3, kLongEnough = 2e5;
  const double exact = !trine_is_exact(&op) ? 1 : op.dtype == TRINE_F32 ? 2 : 4;
  const double each =
      op.dtype == TRINE_I32 ? 0.043 : trine_dtype_size(op.dtype) / 4.0 * 0.0125 * exact;
  const double all = each * products(op) + 12 * double(op.c.batch);
  const bool wakes = threads > 1 && all > kWorthWaking * std::min(double(op.c.batch), 2.0) &&
                     !gemm::is_one_tile(op);
  return wakes ? std::max(all, kLongEnough) : all;
}

// All continue chains.
constexpr trine_rung row(const char* name, const char* summary,
                         std::span<const trine_parameter> parameters = {},
                         std::uint64_t takes = 0) {
  return cpu::row(name, summary, TRINE_REPRODUCIBLE, parameters, TRINE_CONTINUES | takes);
}

constexpr trine_rung residues_row() {
  trine_rung row = cpu::row("residues", "exact f32 by products of bytes, modulo up to 13 numbers",
                            TRINE_REPRODUCIBLE, kMicroKernelParameters, TRINE_TAKES_EXACT);
  row.requirement = "f32 of numerics exact, k up to 65536; a CPU with AMX's tiles of bytes";
  return row;
}

constexpr GemmRung kRungs[] = {
    {row("naive", "the definition: one result at a time, i, j, k", {}, TRINE_TAKES_EXACT),
     gemm::run_naive, nanoseconds},
    {row("ikj", "the inner loop along the rows of B and C, by whole vectors"), gemm::run_ikj,
     nanoseconds, gemm::ikj_workspace_bytes},
    {row("blocked", "ikj within square tiles that stay in the first cache", kBlockedParameters),
     gemm::run_blocked, nanoseconds, gemm::blocked_workspace_bytes},
    {row("kokkos_team",
         "Kokkos's TeamPolicy: tiles of C, their parts of A and B in scratch memory"),
     gemm::run_kokkos_team, nullptr},
    {row("micro_kernel", "packed panels, a SIMD register tile, all of k in one chain",
         kMicroKernelParameters, TRINE_TAKES_EXACT),
     gemm::run_micro_kernel, packed_nanoseconds, gemm::micro_kernel_workspace_bytes},
    {residues_row(), gemm::run_residues, packed_nanoseconds, gemm::residues_workspace_bytes,
     gemm::residues_refuse, gemm::residues_pay},
};

}  // namespace

std::span<const GemmRung> gemm_rungs() { return kRungs; }

}  // namespace trine::cpu
