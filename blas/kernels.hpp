// The shim computes this on the calling thread: small calls, which Trine's own path (check, choose,
// hand over) would make slower than the BLAS they replace, and calls that no device can take, as in
// a forked child. The bits are those of docs/numerics.md, so nobody can see which way a call went.
#pragma once

#include <cfenv>
#include <cstdint>

#include "backends/kit/float_environment.hpp"

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

enum class Terms { product, square, magnitude };

/// The inner loops for the best SIMD target of this machine. They set the caller's floating-point
/// environment aside, and n, m, k > 0.
template <class T>
struct Kernels {
  void (*gemm)(const Product<T>& product);
  /// The exact sum over x[i] y[i], or |x[i]|, rounded once.
  T (*dot)(int64_t n, const T* x, int64_t x_stride, const T* y, int64_t y_stride);
  T (*asum)(int64_t n, const T* x, int64_t stride);
  /// The square root of the exact sum of squares, rounded to f64, as a T.
  T (*nrm2)(int64_t n, const T* x, int64_t stride);
  /// y = fma(alpha, x, y).
  void (*axpy)(int64_t n, T alpha, const T* x, int64_t x_stride, T* y, int64_t y_stride);
  /// The first of the largest magnitudes; 0 where x[0] is NaN, and other NaNs count as none.
  int64_t (*iamax)(int64_t n, const T* x, int64_t stride);
  /// b = alpha a, or its transpose; the bits as they are where alpha is 1. a is column-major, rows
  /// x cols.
  void (*copy)(int64_t rows, int64_t cols, T alpha, const T* a, int64_t lda, T* b, int64_t ldb);
  void (*turn)(int64_t rows, int64_t cols, T alpha, const T* a, int64_t lda, T* b, int64_t ldb);
  bool (*is_default_environment)();
  /// The largest magnitude, an infinity or a NaN where there is one. x is column-major.
  T (*largest)(int64_t rows, int64_t cols, const T* x, int64_t ld);
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

/// Floating-point flags that are raised at the end of a scope, as when the caller's environment is
/// back.
struct Flags {
  int raised = 0;
  ~Flags() {
    if (raised != 0) std::feraiseexcept(raised);
  }
};
/// f() in the default floating-point environment. The caller is told
/// of invalid operations and overflows in it.
template <class F>
auto in_default_environment(F f) {
  Flags flags;
  const kit::FloatEnvironment environment;
  struct Watch {
    Flags& flags;
    ~Watch() { flags.raised = std::fetestexcept(FE_INVALID | FE_OVERFLOW); }
  } const watch{flags};
  return f();
}

/// A product whose elements are the real numbers, rounded once, by a superaccumulator: for few
/// terms, and where no device takes the call. Like those below, it sets the caller's floating-point
/// environment aside.
template <class T>
void exact_gemm(const Product<T>& product);

/// The kernels' sums by a superaccumulator: slow, where a kernel isn't certain of the last bit.
template <class T>
T exact_dot(int64_t n, const T* x, int64_t x_stride, const T* y, int64_t y_stride);
template <class T>
T exact_asum(int64_t n, const T* x, int64_t stride);
template <class T>
T exact_nrm2(int64_t n, const T* x, int64_t stride);

}  // namespace trine::blas
