#include "flags.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <new>

namespace trine::blas {
namespace {

/// What a row of A or a column of B has.
struct Special {
  bool infinity = false, nan = false;
  template <class T>
  void add(T x) {
    infinity |= std::isinf(x);
    nan |= std::isnan(x);
  }
};
Special both(Special a, Special b) { return {a.infinity || b.infinity, a.nan || b.nan}; }

template <class T>
int flags_of(T result, Special operands) {
  if (std::isnan(result))
    return operands.nan ? 0 : operands.infinity ? FE_INVALID : FE_INVALID | FE_OVERFLOW;
  return std::isinf(result) && !operands.infinity ? FE_OVERFLOW : 0;
}

template <class T>
T largest(const Matrix<const T>& x, int64_t rows, int64_t cols) {
  return x.row_stride == 1 ? kernels<T>().largest(rows, cols, x.data, x.col_stride)
                           : kernels<T>().largest(cols, rows, x.data, x.row_stride);
}
/// |x| < 2^exponent_of(x), of a finite x.
template <class T>
int exponent_of(T x) {
  int exponent;
  std::frexp(x, &exponent);
  return exponent;
}

}  // namespace

template <class T>
int flags_of_sum(T sum, int64_t n, const T* x, int64_t x_stride, const T* y, int64_t y_stride) {
  if (std::isfinite(sum)) return 0;
  Special operands;
  for (int64_t i = 0; i < n; ++i) {
    operands.add(x[i * x_stride]);
    operands.add(y[i * y_stride]);
  }
  return flags_of(sum, operands);
}

template <class T>
ProductFlags<T>::ProductFlags(const Product<T>& p) : p_(p) {
  constexpr int kBoth = FE_INVALID | FE_OVERFLOW;
  if (std::fetestexcept(kBoth) == kBoth) return;
  const T c = p.beta != 0 ? largest(Matrix<const T>{p.c, 1, p.ldc}, p.m, p.n) : T(0);
  if (!std::isfinite(c)) return;
  asks_results_ = true;
  // The results are looked at where they are fewer than the operands.
  if (p.m * p.n <= (p.m + p.n) * p.k) return;
  const T a = largest(p.a, p.m, p.k), b = largest(p.b, p.k, p.n);
  for (const T x : {a, b, p.alpha, p.beta})
    if (!std::isfinite(x)) return;
  constexpr int kMost =
      std::numeric_limits<T>::max_exponent - 2;  // for roundings, and the addition
  const int chain = exponent_of(a) + exponent_of(b) + exponent_of(static_cast<double>(p.k));
  asks_results_ = chain > kMost || chain + exponent_of(p.alpha) > kMost ||
                  exponent_of(c) + exponent_of(p.beta) > kMost;
}

template <class T>
void ProductFlags<T>::raise() const {
  if (!asks_results_) return;
  if (std::isfinite(kernels<T>().largest(p_.m, p_.n, p_.c, p_.ldc))) return;
  if (const int flags = of_results()) std::feraiseexcept(flags);
}

template <class T>
int ProductFlags<T>::of_results() const {
  const std::unique_ptr<Special[]> lines(new (std::nothrow) Special[p_.m + p_.n]);
  if (!lines) return 0;
  Special* const columns = lines.get() + p_.m;
  Special scalars;
  scalars.add(p_.alpha);
  scalars.add(p_.beta);
  for (int64_t k = 0; k < p_.k; ++k) {
    for (int64_t i = 0; i < p_.m; ++i)
      lines[i].add(p_.a.data[i * p_.a.row_stride + k * p_.a.col_stride]);
    for (int64_t j = 0; j < p_.n; ++j)
      columns[j].add(p_.b.data[k * p_.b.row_stride + j * p_.b.col_stride]);
  }
  int flags = 0;
  for (int64_t j = 0; j < p_.n; ++j)
    for (int64_t i = 0; i < p_.m; ++i)
      flags |= flags_of(p_.c[i + j * p_.ldc], both(scalars, both(lines[i], columns[j])));
  return flags;
}

#define TRINE_BLAS_FLAGS(T)                                                    \
  template int flags_of_sum(T, int64_t, const T*, int64_t, const T*, int64_t); \
  template class ProductFlags<T>;
TRINE_BLAS_FLAGS(float)
TRINE_BLAS_FLAGS(double)

}  // namespace trine::blas
