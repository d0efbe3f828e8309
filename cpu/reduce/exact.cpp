// Rung `exact`, the default: the numerics' fixed bits at the speed of memory. Elements go through
// vectors on every thread whatever their values: sums through bins or tables that lose nothing,
// extremes through integer keys, products through their tree. This file spreads pieces over threads
// and joins their partial states, whose order can't matter.
#include <new>

#include "arithmetic.hpp"
#include "exact_sum.hpp"
#include "fold.hpp"
#include "rows.hpp"

namespace trine::cpu {
namespace {

bool is_exact_sum(const trine_reduce& op) {
  return op.function == TRINE_SUM && (op.dtype == TRINE_F32 || op.dtype == TRINE_F64);
}

Plan plan_for(const trine_reduce& op, const Problem& p, int threads) {
  return plan_of(p, threads, op.function == TRINE_PROD);
}

// Scratch per thread, then the partial states.
template <class Scratch, class State>
std::size_t bytes_for(const Plan& plan, std::int64_t outputs, int threads) {
  const std::size_t states =
      plan.parts > 1 ? static_cast<std::size_t>(outputs * plan.parts) : 0;
  return sizeof(Scratch) * static_cast<std::size_t>(threads) + sizeof(State) * states;
}

template <class Scratch, class State, class Piece>
void run(const Problem& p, const Plan& plan, void* workspace, Parallel& parallel,
         void (*work)(const Piece&, std::int64_t),
         void (*finish)(const Problem&, const Plan&, State*, std::int64_t)) {
  auto* scratch = static_cast<Scratch*>(workspace);
  auto* partials =
      plan.parts > 1 ? reinterpret_cast<State*>(scratch + parallel.threads()) : nullptr;
  for (int t = 0; t < parallel.threads(); ++t) new (scratch + t) Scratch;
  parallel.parallel_for(plan.pieces(), [&](std::int64_t index, int thread) {
    work(Piece{&p, &plan, scratch + thread, partials}, index);
  });
  if (!partials) return;
  parallel.parallel_for(p.outputs,
                        [&](std::int64_t r, int) { finish(p, plan, partials, r); });
}

}  // namespace

std::size_t exact_workspace(const trine_reduce& op, const std::int64_t*, int threads) {
  const Problem p = problem_of(op);
  const Plan plan = plan_for(op, p, threads);
  return is_exact_sum(op) ? bytes_for<SumScratch, SuperAccumulator>(plan, p.outputs, threads)
                          : bytes_for<FoldScratch, Folded>(plan, p.outputs, threads);
}

void reduce_exact(const trine_reduce& op, const std::int64_t*, void* workspace,
                  Parallel& parallel) {
  const Problem p = problem_of(op);
  const Plan plan = plan_for(op, p, parallel.threads());
  if (is_exact_sum(op)) {
    run<SumScratch, SuperAccumulator, SumPiece>(p, plan, workspace, parallel, sum_piece, finish_sum);
  } else if (op.function == TRINE_PROD) {
    run<FoldScratch, Folded, FoldPiece>(p, plan, workspace, parallel, product_piece,
                                        finish_product);
  } else {
    run<FoldScratch, Folded, FoldPiece>(p, plan, workspace, parallel, fold_piece, finish_fold);
  }
}

}  // namespace trine::cpu
