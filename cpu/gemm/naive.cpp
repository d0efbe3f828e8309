// naive: the definition. One result at a time, k ascending, in the order i, j, k; threads share
// rows. It is what the other rungs are measured against, and it needs nothing.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/naive.cpp"
#include "gemm/rungs.hpp"
#include "simd.hpp"

#include "gemm/chain-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

template <class Chain, class T>
void compute_row(const gemm::Problem<T>& p, int64_t i) {
  for (int64_t j = 0; j < p.n; ++j) finish(p, chain<Chain>(p, i, j), p.c.at(i, j));
}

void naive_row(const trine_gemm& op, int64_t batch, int64_t i) {
  gemm::visit_types(
      op, [&]<class Chain, class T>() { compute_row<Chain>(gemm::problem<T>(op, batch), i); });
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(naive_row);

void gemm::run_naive(const trine_gemm& op, const std::int64_t*, void*, Parallel& parallel) {
  const auto compute = HWY_DYNAMIC_DISPATCH(naive_row);
  parallel.parallel_for(op.c.batch * op.c.rows, [&](std::int64_t index, int) {
    compute(op, index / op.c.rows, index % op.c.rows);
  });
}

}  // namespace trine::cpu
#endif
