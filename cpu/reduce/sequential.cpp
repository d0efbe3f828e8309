// Rung `sequential`: one thread takes the elements in the order of their index, one after the
// other, in the result's own precision. The baseline of documents 001 and 004, and the plainest
// reading of each function; every other rung is measured against it.
#include "kokkos_folds.hpp"
#include "rungs.hpp"

namespace trine::cpu {
namespace {

template <class Fold>
void reduce_in_order(const Problem& p, std::int64_t r) {
  typename Fold::Value value;
  typename Fold::Reducer(value).init(value);
  const auto* row = p.begin<typename Fold::Element>(r);
  std::int64_t index = 0;
  for (std::int64_t o = 0; o < p.outer; ++o, row += p.outer_step)
    for (std::int64_t i = 0; i < p.inner; ++i) Fold::take(row[i * p.inner_step], index++, value);
  Fold::store(p, r, value);
}

}  // namespace

void reduce_sequential(const trine_reduce& op, const std::int64_t*, void*, Parallel& parallel) {
  parallel.parallel_for(1, [&](std::int64_t, int) {
    const Problem p = problem_of(op);
    with_fold(p, [&]<class Fold>() {
      for (std::int64_t r = 0; r < p.outputs; ++r) reduce_in_order<Fold>(p, r);
    });
  });
}

}  // namespace trine::cpu
