// An element of an exact product, alpha (a b) + beta c as a real number and rounded once: its terms
// in a superaccumulator. It is the definition, and the certain fallback behind the fast path.
#pragma once

#include <cstdint>

#include "gemm/problem.hpp"
#include "reduce/super_accumulator.hpp"

namespace trine::cpu::gemm {

// It holds products of three doubles.
using ScaledAccumulator = Accumulator<-3296, 202>;

// alpha * sum + beta * c, rounded.
template <class T>
T rounded(const Problem<T>& p, SuperAccumulator& sum, const T* c) {
  ScaledAccumulator total;
  if (p.product) total.add_multiple(p.alpha, sum);
  if (p.reads_c) total.add_product(double{p.beta}, double{*c});
  return total.template round<T>();
}

template <class T>
T exact_element(const Problem<T>& p, std::int64_t i, std::int64_t j) {
  SuperAccumulator sum;
  for (std::int64_t k = 0; k < p.depth() && !sum.is_nan(); ++k) {
    const double a = *p.a.at(i, k), b = *p.b.at(k, j);
    if constexpr (sizeof(T) == sizeof(float)) {
      sum.add(a * b);
    } else {
      sum.add_product(a, b);
    }
  }
  return rounded(p, sum, p.c.at(i, j));
}

}  // namespace trine::cpu::gemm
