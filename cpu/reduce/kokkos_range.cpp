// kokkos_range: `sequential` on every thread, as one writes it first with Kokkos.
//
//   one result     parallel_reduce over a RangePolicy of its elements, the function as its reducer
//   more           parallel_for over a RangePolicy of the results, each by one thread
//
// A reducer joins what the threads have found; where a thread's elements end depends on the number
// of threads, and with it the bits of a float sum: a study. A few long rows keep some threads idle,
// columns are read across the lines of memory, and an element of rows with gaps costs a division:
// `kokkos_team` has none of this.
#include "kokkos_folds.hpp"
#include "rungs.hpp"

namespace trine::cpu {
namespace {

using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

template <class Fold>
void reduce_one(const Space& space, const Problem& p) {
  using T = typename Fold::Element;
  typename Fold::Value value;
  const T* const line = p.begin<T>(0);
  const std::int64_t row = p.outer == 1 ? 0 : p.inner;
  Kokkos::parallel_reduce(
      "kokkos_range", Range(space, 0, p.length()),
      KOKKOS_LAMBDA(std::int64_t i, typename Fold::Value & part) {
        const std::int64_t at =
            row == 0 ? i * p.inner_step : i / row * p.outer_step + i % row * p.inner_step;
        Fold::take(line[at], i, part);
      },
      typename Fold::Reducer(value));
  Fold::store(p, 0, value);
}

// Each is of a row or of a column, so p.outer is 1.
template <class Fold>
void reduce_each(const Space& space, const Problem& p) {
  using T = typename Fold::Element;
  Kokkos::parallel_for(
      "kokkos_range", Range(space, 0, p.outputs), KOKKOS_LAMBDA(std::int64_t r) {
        typename Fold::Value value;
        typename Fold::Reducer(value).init(value);
        const T* const line = p.begin<T>(r);
        for (std::int64_t i = 0; i < p.inner; ++i) Fold::take(line[i * p.inner_step], i, value);
        Fold::store(p, r, value);
      });
}

}  // namespace

void reduce_kokkos_range(const trine_reduce& op, const std::int64_t*, void*, Parallel& parallel) {
  const Space space = kokkos_for(parallel);
  const Problem p = problem_of(op);
  with_fold(p, [&]<class Fold>() {
    p.outputs == 1 ? reduce_one<Fold>(space, p) : reduce_each<Fold>(space, p);
  });
}

}  // namespace trine::cpu
