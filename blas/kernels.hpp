// What the shim computes on the calling thread: small calls, which Trine's own path (check, choose, hand
// over) would make slower than the BLAS they replace, and calls that no device can take, as in a forked
// child. The bits are those of docs/numerics.md, so nobody can see which way a call went.
#pragma once

#include <cstdint>

namespace trine::blas {

template <class T>
struct Matrix {
  T* data;
  int64_t row_stride, col_stride;
};

/// c = alpha a b + beta c: a is m x k, b is k x n, and c is column-major.
template <class T>
struct Product {
  int64_t m, n, k;
  T alpha;
  Matrix<const T> a, b;
  T beta;
  T* c;
  int64_t ldc;
  bool reads_inputs() const { return alpha != 0 && k > 0; }
};

enum class Terms { product, magnitude };

/// The inner loops for the best SIMD target of this machine, in the default floating-point environment.
template <class T>
struct Kernels {
  void (*gemm)(const Product<T>& product);
  /// The exact sum over x[i] y[i], or |x[i]|, rounded once: true, or false where this quick way
  /// can't be certain of the last bit.
  bool (*dot)(int64_t n, const T* x, const T* y, T* result);
  bool (*asum)(int64_t n, const T* x, const T* y, T* result);
  /// The square root of the exact sum of squares, rounded to f64, as a T.
  bool (*nrm2)(int64_t n, const T* x, const T* y, T* result);
  /// y = fma(alpha, x, y).
  void (*axpy)(int64_t n, T alpha, const T* x, T* y);
  /// The first of the largest magnitudes; x[0] is no NaN, and other NaNs count as none.
  int64_t (*iamax)(int64_t n, const T* x);
  /// to[j to_ld + i] = alpha from[i from_ld + j] for i < rows, j < cols; bits as they are where alpha is 1.
  void (*turn)(int64_t rows, int64_t cols, T alpha, const T* from, int64_t from_ld, T* to,
               int64_t to_ld);
};
extern const Kernels<float> f32_kernels;
extern const Kernels<double> f64_kernels;
template <class T>
const Kernels<T>& kernels() {
  if constexpr (sizeof(T) == 4)
    return f32_kernels;
  else
    return f64_kernels;
}

/// The same sum by a superaccumulator: always certain, and slow. nrm2's is that of (x 2^exponent)^2.
template <class T>
T exact_dot(int64_t n, const T* x, const T* y);
template <class T>
T exact_asum(int64_t n, const T* x);
double exact_squares(int64_t n, const float* x, int exponent);
double exact_squares(int64_t n, const double* x, int exponent);

}  // namespace trine::blas
