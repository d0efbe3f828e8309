// A result's chain: one step of it, all of it, and how it becomes an element of C.
#include "gemm/problem.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {

// One step: a * b + c, fused for floats, modulo 2^32 for integers.
template <class T>
HWY_INLINE T step(T a, T b, T c) {
  if constexpr (hwy::IsFloat<T>()) {
    return fused_multiply_add(a, b, c);
  } else {
    return a * b + c;
  }
}

// The same in every lane.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V step(D d, V a, V b, V c) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
    return fused_multiply_add(d, a, b, c);
  } else {
    return hn::Add(hn::Mul(a, b), c);
  }
}

// All of k, of result (i, j).
template <class T>
HWY_INLINE T chain(const gemm::Problem<T>& p, int64_t i, int64_t j) {
  T acc = p.begin(i, j);
  for (int64_t k = 0; k < p.depth(); ++k) acc = step(*p.a.at(i, k), *p.b.at(k, j), acc);
  return acc;
}

// alpha (acc + 0) + beta c. Adding +0 turns a chain's -0 into +0, so that padding is invisible.
template <class T>
HWY_INLINE void finish(const gemm::Problem<T>& p, T acc, T* c) {
  const T t = p.product ? p.alpha * (acc + T(0)) : T(0);
  *c = p.reads_c ? step(p.beta, *c, t) : t;
}

// The first part of that, in every lane.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> scale(D d, T alpha, hn::Vec<D> acc) {
  return hn::Mul(hn::Set(d, alpha), hn::Add(acc, hn::Zero(d)));
}

// The value that goes to C: alpha * acc + beta * c, or without c where `call` doesn't read it. Only
// c's lanes of `mask` are read.
template <class D, class Call, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> finish(D d, const Call& call, hn::Vec<D> acc, hn::Mask<D> mask, const T* c) {
  const auto t = scale(d, call.alpha, acc);
  return call.reads_c ? step(d, hn::Set(d, call.beta), load_lanes(d, mask, c), t) : t;
}

// Begins the chains of row i, columns j0 …
template <class T>
void begin_row(const gemm::Problem<T>& p, int64_t i, int64_t j0, int64_t columns, T* chains) {
  for (int64_t j = 0; j < columns; ++j) chains[j] = p.begin(i, j0 + j);
}

// Continues the chains of row i, columns j0 …, by k0 <= k < k1: the inner loop runs along a row of
// B.
template <class T>
void continue_row(const gemm::Problem<T>& p, int64_t i, int64_t j0, int64_t columns, int64_t k0,
                  int64_t k1, T* HWY_RESTRICT chains) {
  const int64_t stride = p.b.col_stride;
  for (int64_t k = k0; k < k1; ++k) {
    const T a = *p.a.at(i, k);
    const T* b = p.b.at(k, j0);
    if (stride == 1) {
      for (int64_t j = 0; j < columns; ++j) chains[j] = step(a, b[j], chains[j]);
    } else {
      for (int64_t j = 0; j < columns; ++j) chains[j] = step(a, b[j * stride], chains[j]);
    }
  }
}

template <class T>
void finish_row(const gemm::Problem<T>& p, int64_t i, int64_t j0, int64_t columns,
                const T* chains) {
  for (int64_t j = 0; j < columns; ++j) finish(p, chains[j], p.c.at(i, j0 + j));
}

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
