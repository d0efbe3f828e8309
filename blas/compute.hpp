// The routines with checked arguments: each picks the calling thread or a device of Trine, and
// writes the log. `routine` is the name in the log. Vectors may have any stride, and begin at their
// first element in logical order.
#pragma once

#include "kernels.hpp"

namespace trine::blas {

template <class T>
struct Vector {
  T* data;
  int64_t size, stride;
};

template <class T>
void gemm(const char* routine, const Product<T>& product);
/// y = alpha a x + beta y: gemm with one column.
template <class T>
void gemv(const char* routine, T alpha, const Matrix<const T>& a, const Vector<const T>& x, T beta,
          const Vector<T>& y);
template <class T>
T dot(const char* routine, const Vector<const T>& x, const Vector<const T>& y);
template <class T>
T asum(const char* routine, const Vector<const T>& x);
template <class T>
T nrm2(const char* routine, const Vector<const T>& x);
/// From 0; x has elements.
template <class T>
int64_t iamax(const char* routine, const Vector<const T>& x);
template <class T>
void axpy(const char* routine, T alpha, const Vector<const T>& x, const Vector<T>& y);
/// b = alpha a, or alpha a's transpose; column-major, a is rows x cols.
template <class T>
void omatcopy(const char* routine, bool transposes, int64_t rows, int64_t cols, T alpha, const T* a,
              int64_t lda, T* b, int64_t ldb);

}  // namespace trine::blas
