// A gemm as every CPU rung sees it: typed pointers, one matrix of the batch, C along its rows.
#pragma once

#include <cstdint>
#include <utility>

#include "backends/kit/bits.hpp"
#include "backends/ops.h"

namespace trine::cpu::gemm {

// A strided matrix, element (i, j) at data[i * row_stride + j * col_stride].
template <class T>
struct Matrix {
  T* data;
  std::int64_t row_stride, col_stride;

  T* at(std::int64_t i, std::int64_t j) const { return data + i * row_stride + j * col_stride; }
  Matrix from(std::int64_t i, std::int64_t j) const { return {at(i, j), row_stride, col_stride}; }
  Matrix transposed() const { return {data, col_stride, row_stride}; }
};

// C = alpha A B + beta C with an m x k, k x n and m x n matrix. `product` is false when alpha is 0
// or there is no chain: then the product is +0 and A, B are not read. With `continues`, chains
// begin at C, and with k = 0 there are some all the same. i32 computes as uint32_t: modulo 2^32.
template <class T>
struct Problem {
  std::int64_t m, n, k;
  Matrix<const T> a, b;
  Matrix<T> c;
  T alpha, beta;
  bool product, continues, reads_c;

  std::int64_t depth() const { return product ? k : 0; }  // of a chain
  // The value with which the chain of result (i, j) begins.
  T begin(std::int64_t i, std::int64_t j) const { return continues ? *c.at(i, j) : T(0); }
};

inline std::int64_t depth(const trine_gemm& op) {
  return kit::is_zero(op.dtype, op.alpha) ? 0 : op.a.cols;
}

inline bool reads_c(const trine_gemm& op) { return !kit::is_zero(op.dtype, op.beta); }

template <class T>
T scalar(const trine_scalar& value) {
  if constexpr (sizeof(T) == sizeof(double)) {
    return value.f64;
  } else if constexpr (T(0.5) == T(0)) {
    return static_cast<T>(value.i32);
  } else {
    return value.f32;
  }
}

template <class T>
Matrix<T> matrix(const trine_view& view, std::int64_t batch) {
  auto* base = static_cast<char*>(view.memory) + view.offset;
  return {reinterpret_cast<T*>(base) + batch * view.batch_stride, view.row_stride, view.col_stride};
}

template <class T>
Problem<T> problem(const trine_gemm& op, std::int64_t batch) {
  return {op.c.rows,
          op.c.cols,
          op.a.cols,
          matrix<const T>(op.a, batch),
          matrix<const T>(op.b, batch),
          matrix<T>(op.c, batch),
          scalar<T>(op.alpha),
          scalar<T>(op.beta),
          depth(op) != 0 || kit::continues(op),
          kit::continues(op),
          reads_c(op)};
}

// Whether C is better computed as its transpose, C^T = B^T A^T: products commute, so the bits are
// the same. After this a row of C is contiguous, or one element; and a lone column of adjacent
// elements lies along a row.
inline bool wants_transposition(const trine_view& c) {
  if (c.cols > 1 && c.col_stride != 1) return true;
  return c.cols <= 1 && c.rows > 1 && c.row_stride == 1;
}

template <class T>
Problem<T> problem_along_rows(const trine_gemm& op, std::int64_t batch) {
  const Problem<T> p = problem<T>(op, batch);
  if (!wants_transposition(op.c)) return p;
  return {p.n,     p.m,    p.k,       p.b.transposed(), p.a.transposed(), p.c.transposed(),
          p.alpha, p.beta, p.product, p.continues,      p.reads_c};
}

// Its extents.
struct Extents {
  std::int64_t m, n;
};
inline Extents extents_along_rows(const trine_view& c) {
  if (wants_transposition(c)) return {c.cols, c.rows};
  return {c.rows, c.cols};
}

// Calls visit.operator()<T>() with the type that `dtype` computes in.
template <class Visit>
decltype(auto) visit_dtype(std::uint32_t dtype, Visit&& visit) {
  if (dtype == TRINE_F32) return visit.template operator()<float>();
  if (dtype == TRINE_F64) return visit.template operator()<double>();
  return visit.template operator()<std::uint32_t>();
}

}  // namespace trine::cpu::gemm
