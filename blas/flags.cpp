#include "flags.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <new>

namespace trine::blas {
namespace {

/// A row of A, or a column of B, may have them.
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

/// Whether the operands don't rule out that a chain raises something.
template <class T>
bool may_raise(const Product<T>& p) {
  const T a = largest(p.a, p.m, p.k), b = largest(p.b, p.k, p.n);
  for (const T x : {a, b, p.alpha})
    if (!std::isfinite(x)) return true;
  constexpr int kMost =
      std::numeric_limits<T>::max_exponent - 2;  // for roundings, and the addition
  const int chain = exponent_of(a) + exponent_of(b) + exponent_of(static_cast<double>(p.k));
  return chain > kMost || chain + exponent_of(p.alpha) > kMost;
}

template <class T>
int flags_of_results(const Product<T>& p) {
  const std::unique_ptr<Special[]> lines(new (std::nothrow) Special[p.m + p.n]);
  if (!lines) return 0;
  Special* const columns = lines.get() + p.m;
  Special scalars;
  scalars.add(p.alpha);
  scalars.add(p.beta);
  for (int64_t k = 0; k < p.k; ++k) {
    for (int64_t i = 0; i < p.m; ++i)
      lines[i].add(p.a.data[i * p.a.row_stride + k * p.a.col_stride]);
    for (int64_t j = 0; j < p.n; ++j)
      columns[j].add(p.b.data[k * p.b.row_stride + j * p.b.col_stride]);
  }
  int flags = 0;
  for (int64_t j = 0; j < p.n; ++j)
    for (int64_t i = 0; i < p.m; ++i)
      flags |= flags_of(p.c[i + j * p.ldc], both(scalars, both(lines[i], columns[j])));
  return flags;
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
void raise_flags_of(const Product<T>& p) {
  constexpr int kBoth = FE_INVALID | FE_OVERFLOW;
  if (std::fetestexcept(kBoth) == kBoth) return;
  // A chain that raises one of them ends in an infinity or a NaN, and so does what C adds to it.
  // The fewer are read first.
  const auto is_finite = [&] { return std::isfinite(kernels<T>().largest(p.m, p.n, p.c, p.ldc)); };
  const bool has_few_results = p.m * p.n <= (p.m + p.n) * p.k;
  if (has_few_results ? is_finite() || !may_raise(p) : !may_raise(p) || is_finite()) return;
  if (const int flags = flags_of_results(p)) std::feraiseexcept(flags);
}

#define TRINE_BLAS_FLAGS(T)                                                    \
  template int flags_of_sum(T, int64_t, const T*, int64_t, const T*, int64_t); \
  template void raise_flags_of(const Product<T>&);
TRINE_BLAS_FLAGS(float)
TRINE_BLAS_FLAGS(double)

}  // namespace trine::blas
