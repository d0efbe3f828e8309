// Rung `exact`, the default: the numerics' fixed bits at the speed of memory. Elements go through
// vectors on every thread whatever their values: sums by plain additions or, where one was inexact,
// through bins that lose nothing, extremes through integer keys, products through their tree. The
// order in which partial states meet can't matter.
#include "arithmetic.hpp"
#include "exact_sum.hpp"
#include "fold.hpp"
#include "partial_reduction.hpp"
#include "rungs.hpp"

namespace trine::cpu {
namespace {

bool is_exact_sum(const trine_reduce& op) {
  return op.function == TRINE_SUM && (op.dtype == TRINE_F32 || op.dtype == TRINE_F64);
}

Plan plan_for(const trine_reduce& op, const Problem& p, int threads) {
  return plan_of(p, threads, op.function == TRINE_PROD);
}

}  // namespace

std::size_t exact_workspace(const trine_reduce& op, const std::int64_t*, int threads) {
  const Problem p = problem_of(op);
  const Plan plan = plan_for(op, p, threads);
  return is_exact_sum(op) ? bytes_for(SumWork{}, plan, p.outputs, threads)
                          : bytes_for(FoldWork{}, plan, p.outputs, threads);
}

void reduce_exact(const trine_reduce& op, const std::int64_t*, void* workspace,
                  Parallel& parallel) {
  Problem p = problem_of(op);
  p.witness = p.second.witness = parallel.witness;
  const Plan plan = plan_for(op, p, parallel.threads());
  if (is_exact_sum(op)) return partial_reduction(p, plan, workspace, parallel, sum_work(p));
  partial_reduction(p, plan, workspace, parallel, fold_work(p));
}

}  // namespace trine::cpu
