// blocked: ikj within square tiles. ikj reads all of B for each row of C; here a tile of B, once in
// the first cache, serves all rows of a tile of C, whose partials stay there too while k ascends
// from tile to tile (Lam, Rothberg, Wolf, The cache performance and optimizations of blocked
// algorithms, 1991).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/blocked.cpp"
#include <algorithm>

#include "gemm/rungs.hpp"
#include "simd.hpp"

#include "gemm/chain-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

// The tile of C whose first result is (i0, j0).
void blocked_tile(const trine_gemm& op, int64_t batch, int64_t i0, int64_t j0, int64_t tile,
                  std::byte* scratch) {
  gemm::visit_dtype(op.dtype, [&]<class T>() {
    const gemm::Problem<T> p = gemm::problem_along_rows<T>(op, batch);
    const int64_t rows = std::min(tile, p.m - i0), columns = std::min(tile, p.n - j0);
    T* const chains = reinterpret_cast<T*>(scratch);
    for (int64_t i = 0; i < rows; ++i) begin_row(p, i0 + i, j0, columns, chains + i * tile);
    for (int64_t k = 0; k < p.depth(); k += tile) {
      const int64_t k1 = std::min(k + tile, p.depth());
      for (int64_t i = 0; i < rows; ++i)
        continue_row(p, i0 + i, j0, columns, k, k1, chains + i * tile);
    }
    for (int64_t i = 0; i < rows; ++i) finish_row(p, i0 + i, j0, columns, chains + i * tile);
  });
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(blocked_tile);

namespace gemm {

std::size_t blocked_workspace_bytes(const trine_gemm& op, const std::int64_t* parameters,
                                    int threads) {
  return static_cast<std::size_t>(parameters[0] * parameters[0] * threads) *
         trine_dtype_size(op.dtype);
}

void run_blocked(const trine_gemm& op, const std::int64_t* parameters, void* workspace,
                 Parallel& parallel) {
  const auto compute = HWY_DYNAMIC_DISPATCH(blocked_tile);
  const Extents c = extents_along_rows(op.c);
  const std::int64_t tile = parameters[0];
  const std::int64_t down = divide_up(c.m, tile), across = divide_up(c.n, tile);
  const std::size_t bytes = blocked_workspace_bytes(op, parameters, 1);
  auto* const scratch = static_cast<std::byte*>(workspace);
  parallel.parallel_for(op.c.batch * down * across, [&](std::int64_t index, int thread) {
    compute(op, index / (down * across), index / across % down * tile, index % across * tile, tile,
            scratch + bytes * static_cast<std::size_t>(thread));
  });
}

}  // namespace gemm
}  // namespace trine::cpu
#endif
