// ikj: naive with its two inner loops exchanged. Where naive walked down a column of B, a new line
// of memory at every step, now B and the partials are read along their rows, by whole vectors. A
// row's partials wait in the workspace: C holds none while beta has yet to read it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/ikj.cpp"
#include <algorithm>

#include "gemm/rungs.hpp"
#include "simd.hpp"

#include "gemm/chain-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

void ikj_row(const trine_gemm& op, int64_t batch, int64_t i, std::byte* scratch) {
  gemm::visit_dtype(op.dtype, [&]<class T>() {
    const gemm::Problem<T> p = gemm::problem_along_rows<T>(op, batch);
    T* const chains = reinterpret_cast<T*>(scratch);
    begin_row(p, i, 0, p.n, chains);
    continue_row(p, i, 0, p.n, 0, p.depth(), chains);
    finish_row(p, i, 0, p.n, chains);
  });
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(ikj_row);

namespace gemm {
namespace {

// A row of partials, in whole lines of the cache: threads don't share any.
std::size_t row_bytes(const trine_gemm& op) {
  const auto n = static_cast<std::size_t>(extents_along_rows(op.c).n);
  return (n * trine_dtype_size(op.dtype) + 63) / 64 * 64;
}

}  // namespace

std::size_t ikj_workspace_bytes(const trine_gemm& op, const std::int64_t*, int threads) {
  return row_bytes(op) * static_cast<std::size_t>(threads);
}

void run_ikj(const trine_gemm& op, const std::int64_t*, void* workspace, Parallel& parallel) {
  const auto compute = HWY_DYNAMIC_DISPATCH(ikj_row);
  const std::int64_t rows = extents_along_rows(op.c).m;
  const std::size_t bytes = row_bytes(op);
  auto* const scratch = static_cast<std::byte*>(workspace);
  parallel.parallel_for(op.c.batch * rows, [&](std::int64_t index, int thread) {
    compute(op, index / rows, index % rows, scratch + bytes * static_cast<std::size_t>(thread));
  });
}

}  // namespace gemm
}  // namespace trine::cpu
#endif
