// naive: the definition. One result at a time, k ascending, in the order i, j, k; threads share
// rows. It is what the other rungs are measured against, and it needs nothing.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/naive.cpp"
#include "gemm/problem.hpp"
#include "gemm/rows.hpp"
#include "simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

template <class T>
T chain_step(T a, T b, T c) {
  if constexpr (std::floating_point<T>) {
    return fused_multiply_add(a, b, c);
  } else {
    return a * b + c;
  }
}

template <class T>
void compute_row(const gemm::Problem<T>& p, int64_t i) {
  for (int64_t j = 0; j < p.n; ++j) {
    T t = 0;
    if (p.product) {
      for (int64_t k = 0; k < p.k; ++k) t = chain_step(*p.a.at(i, k), *p.b.at(k, j), t);
      t = p.alpha * (t + T(0));
    }
    T* c = p.c.at(i, j);
    *c = p.reads_c ? chain_step(p.beta, *c, t) : t;
  }
}

void row(const trine_gemm& op, int64_t batch, int64_t i) {
  gemm::visit_dtype(op.dtype, [&]<class T>() { compute_row(gemm::problem<T>(op, batch), i); });
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(row);

void gemm::run_naive(const trine_gemm& op, const std::int64_t*, void*, Parallel& parallel) {
  const auto compute = HWY_DYNAMIC_DISPATCH(row);
  parallel.parallel_for(op.c.batch * op.c.rows, [&](std::int64_t index, int) {
    compute(op, index / op.c.rows, index % op.c.rows);
  });
}

}  // namespace trine::cpu
#endif
