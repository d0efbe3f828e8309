// Rung `sequential`: one thread takes the elements in the order of their index, one after the other,
// in the result's own precision. The baseline of documents 001 and 004, and the plainest reading of
// what each function means; every other rung is measured against it.
#include "arithmetic.hpp"
#include "problem.hpp"
#include "rungs.hpp"

namespace trine::cpu {
namespace {

// take(x, index) for each element of result `r`, in the order of the index.
template <class T, class Take>
void each_element(const Problem& p, std::int64_t r, Take&& take) {
  const T* begin = p.begin<T>(r);
  std::int64_t index = 0;
  for (std::int64_t o = 0; o < p.outer; ++o) {
    const T* row = begin + o * p.outer_step;
    for (std::int64_t i = 0; i < p.inner; ++i) take(row[i * p.inner_step], index++);
  }
}

template <class T, trine_map M>
void sum(const Problem& p, std::int64_t r) {
  if constexpr (!is_float<T>) {
    std::uint64_t total = 0;
    each_element<T>(p, r, [&](T x, std::int64_t) { total += widened<M>(x); });
    p.result<std::uint64_t>(r) = total;
  } else {
    with_float(p.result_dtype, [&]<class R>(R total) {
      each_element<T>(p, r, [&](T x, std::int64_t) {
        const R value = static_cast<R>(mapped<M>(x));
        total += M == TRINE_SQUARE ? value * value : value;
      });
      p.result<R>(r) = total;
    });
  }
}

template <class T, trine_map M>
void product(const Problem& p, std::int64_t r) {
  Factor<T> total = 1;
  each_element<T>(p, r, [&](T x, std::int64_t) { total *= factor<M>(x); });
  p.result<Factor<T>>(r) = total;
}

template <class T, trine_map M, bool kMax>
void extreme(const Problem& p, std::int64_t r, bool want_index) {
  using V = Mapped<T, M>;
  Key<V> best = losing_key<kMax, V>();
  std::int64_t at = -1;
  each_element<T>(p, r, [&](T x, std::int64_t index) {
    const Key<V> key = key_of<kMax, V>(mapped<M>(x));
    if (at < 0 || beats<kMax>(key, best)) {
      best = key;
      at = index;
    }
  });
  if (want_index) {
    p.result<std::int64_t>(r) = at;
  } else {
    p.result<V>(r) = value_of<kMax, V>(best);
  }
}

void reduce_in_order(const Problem& p) {
  with_dtype(p.dtype, [&]<class T>() {
    with_map(p.map, [&]<trine_map M>() {
      for (std::int64_t r = 0; r < p.outputs; ++r) {
        switch (p.function) {
          case TRINE_SUM: sum<T, M>(p, r); break;
          case TRINE_PROD: product<T, M>(p, r); break;
          case TRINE_MIN: extreme<T, M, false>(p, r, false); break;
          case TRINE_MAX: extreme<T, M, true>(p, r, false); break;
          case TRINE_ARGMIN: extreme<T, M, false>(p, r, true); break;
          case TRINE_ARGMAX: extreme<T, M, true>(p, r, true); break;
        }
      }
    });
  });
}

}  // namespace

void reduce_sequential(const trine_reduce& op, const std::int64_t*, void*, Parallel& parallel) {
  parallel.parallel_for(1, [&](std::int64_t, int) { reduce_in_order(problem_of(op)); });
}

}  // namespace trine::cpu
