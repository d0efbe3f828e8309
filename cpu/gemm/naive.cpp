// naive: the definition. One result at a time, k ascending, in the order i, j, k; threads share
// rows. It is what the other rungs are measured against, and it needs nothing. An exact product
// adds each result's terms in a superaccumulator.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/naive.cpp"
#include "gemm/exact_element.hpp"
#include "gemm/rungs.hpp"
#include "simd.hpp"

#include "gemm/chain-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

void naive_row(const trine_gemm& op, int64_t batch, int64_t i) {
  gemm::visit_dtype(op.dtype, [&]<class T>() {
    const gemm::Problem<T> p = gemm::problem<T>(op, batch);
    for (int64_t j = 0; j < p.n; ++j) {
      if constexpr (hwy::IsFloat<T>()) {
        if (trine_is_exact(&op)) {
          *p.c.at(i, j) = gemm::exact_element(p, i, j);
          continue;
        }
      }
      finish(p, chain(p, i, j), p.c.at(i, j));
    }
  });
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
