#include "compute.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "route.hpp"

namespace trine::blas {
namespace {

/// A vector's elements side by side: the vector itself, or a copy. A kernel's loops, and Trine's views,
/// which know no negative strides, take nothing else.
template <class T>
class Dense {
 public:
  explicit Dense(const Vector<T>& x) : from_(x), data_(x.data) {
    if (x.stride == 1 || x.size <= 1) return;
    Element* copy = few_;
    if (x.size > int64_t(std::size(few_))) {
      many_.reset(new Element[x.size]);
      copy = many_.get();
    }
    for (int64_t i = 0; i < x.size; ++i) copy[i] = x.data[i * x.stride];
    data_ = copy;
  }
  T* data() const { return data_; }
  /// Where the elements were changed.
  void put_back() const {
    if (data_ == from_.data) return;
    for (int64_t i = 0; i < from_.size; ++i) from_.data[i * from_.stride] = data_[i];
  }

 private:
  using Element = std::remove_const_t<T>;
  const Vector<T>& from_;
  T* data_;
  Element few_[512];
  std::unique_ptr<Element[]> many_;
};

template <class T>
ConstHostView view(const T* data, int64_t size) {
  return host_vector(data, dtype_of<T>, size);
}

template <class T>
ConstHostView view(const Matrix<const T>& matrix, int64_t rows, int64_t cols) {
  return {.data = matrix.data,
          .dtype = dtype_of<T>,
          .rows = rows,
          .cols = cols,
          .row_stride = matrix.row_stride,
          .col_stride = matrix.col_stride};
}

template <class T>
void multiply(LoggedCall& call, const Product<T>& p, int64_t small) {
  const bool is_small = p.m * p.n <= small && p.m * p.n * p.k <= small;
  route(
      call, is_small, p.beta == 0,
      [&](const HostOptions& options) {
        const HostView c{.data = p.c,
                         .dtype = dtype_of<T>,
                         .rows = p.m,
                         .cols = p.n,
                         .row_stride = 1,
                         .col_stride = p.ldc};
        trine::gemm(p.alpha, view(p.a, p.m, p.k), view(p.b, p.k, p.n), p.beta, c, options);
      },
      [&] { kernels<T>().gemm(p); });
}

/// The result of `quick`, which knows whether it is certain, of `exact`, or of a device.
template <class T, class Quick, class Exact, class OnDevice>
T settle(LoggedCall& call, int64_t size, OnDevice on_device, Quick quick, Exact exact) {
  T result;
  route(
      call, size <= kSmallVector, true,
      [&](const HostOptions& options) { result = on_device(options); },
      [&] {
        if (!quick(&result)) result = exact();
      });
  return result;
}

/// The square root of the sum of squares. Where that, in f64, has over- or underflowed, of what is a power
/// of two smaller or larger: `squares(exponent)` is the sum of (x 2^exponent)^2, rounded once.
template <class Squares>
double norm(Squares squares) {
  const double sum = squares(0);
  if ((sum >= 0x1p-900 && sum <= 0x1p1000) || std::isnan(sum)) return std::sqrt(sum);
  const int exponent = sum > 1 ? -600 : 600;
  return std::ldexp(std::sqrt(squares(exponent)), -exponent);
}

double squares_on(const HostOptions& options, int64_t n, const float* x, int) {
  double sum = 0;
  reduce(Function::sum, Map::square, Axis::all, view(x, n), host_vector(&sum, Dtype::f64, 1),
         options);
  return sum;
}
double squares_on(const HostOptions& options, int64_t n, const double* x, int exponent) {
  if (exponent == 0) return trine::sum(std::span(x, n), Map::square, options);
  const std::unique_ptr<double[]> scaled(new double[n]);
  for (int64_t i = 0; i < n; ++i) scaled[i] = std::ldexp(x[i], exponent);
  return squares_on(options, n, scaled.get(), 0);
}

}  // namespace

template <class T>
void gemm(const char* routine, const Product<T>& p) {
  LoggedCall call(routine, {{"m", p.m}, {"n", p.n}, {"k", p.k}});
  multiply(call, p, kSmallProduct);
}

template <class T>
void gemv(const char* routine, T alpha, const Matrix<const T>& a, const Vector<const T>& x, T beta,
          const Vector<T>& y) {
  LoggedCall call(routine, {{"m", y.size}, {"n", 1}, {"k", x.size}});
  const Dense in(x);
  const Dense out(y);
  multiply<T>(call, {y.size, 1, x.size, alpha, a, {in.data(), 1, x.size}, beta, out.data(), y.size},
              kSmallMatrix);
  out.put_back();
}

template <class T>
T dot(const char* routine, const Vector<const T>& x, const Vector<const T>& y) {
  LoggedCall call(routine, {{"n", x.size}});
  const Dense a(x), b(y);
  return settle<T>(
      call, x.size,
      [&](const HostOptions& options) {
        return trine::dot(std::span(a.data(), x.size), std::span(b.data(), x.size), options);
      },
      [&](T* result) { return kernels<T>().dot(x.size, a.data(), b.data(), result); },
      [&] { return exact_dot(x.size, a.data(), b.data()); });
}

template <class T>
T asum(const char* routine, const Vector<const T>& x) {
  LoggedCall call(routine, {{"n", x.size}});
  const Dense a(x);
  return settle<T>(
      call, x.size,
      [&](const HostOptions& options) {
        return trine::sum(std::span(a.data(), x.size), Map::abs, options);
      },
      [&](T* result) { return kernels<T>().asum(x.size, a.data(), a.data(), result); },
      [&] { return exact_asum(x.size, a.data()); });
}

template <class T>
T nrm2(const char* routine, const Vector<const T>& x) {
  LoggedCall call(routine, {{"n", x.size}});
  const Dense a(x);
  return settle<T>(
      call, x.size,
      [&](const HostOptions& options) {
        return norm([&](int e) { return squares_on(options, x.size, a.data(), e); });
      },
      [&](T* result) { return kernels<T>().nrm2(x.size, a.data(), a.data(), result); },
      [&] { return norm([&](int e) { return exact_squares(x.size, a.data(), e); }); });
}

template <class T>
int64_t iamax(const char* routine, const Vector<const T>& x) {
  LoggedCall call(routine, {{"n", x.size}});
  const Dense a(x);
  int64_t at = 0;
  if (std::isnan(a.data()[0])) return call.ran_on("cpu"), at;  // nothing is greater
  const auto here = [&] { at = kernels<T>().iamax(x.size, a.data()); };
  route(
      call, x.size <= kSmallVector, true,
      [&](const HostOptions& options) {
        reduce(Function::argmax, Map::abs, Axis::all, view(a.data(), x.size),
               host_vector(&at, Dtype::i64, 1), options);
        if (std::isnan(a.data()[at])) here();  // Trine's is the first NaN, BLAS's none
      },
      here);
  return at;
}

template <class T>
void axpy(const char* routine, T alpha, const Vector<const T>& x, const Vector<T>& y) {
  LoggedCall call(routine, {{"n", x.size}});
  call.ran_on("cpu");
  const Environment environment;
  if (x.stride == 1 && y.stride == 1) return kernels<T>().axpy(x.size, alpha, x.data, y.data);
  for (int64_t i = 0; i < x.size; ++i) {
    T& sum = y.data[i * y.stride];
    sum = std::fma(alpha, x.data[i * x.stride], sum);
  }
}

template <class T>
void omatcopy(const char* routine, bool transposes, int64_t rows, int64_t cols, T alpha, const T* a,
              int64_t lda, T* b, int64_t ldb) {
  LoggedCall call(routine, {{"rows", rows}, {"cols", cols}, {"transposed", transposes}});
  // alpha times a column of `from`, which may be b itself.
  const auto scale = [&](const T* from, int64_t ld, int64_t length, int64_t count) {
    const Environment environment;
    for (int64_t j = 0; j < count; ++j) {
      T* const to = b + j * ldb;
      if (alpha == 0) {
        std::fill_n(to, length, T(0));
      } else if (alpha == 1) {
        std::memcpy(to, from + j * ld, length * sizeof(T));
      } else {
        for (int64_t i = 0; i < length; ++i) to[i] = alpha * from[i + j * ld];
      }
    }
  };
  if (!transposes || alpha == 0) {
    call.ran_on("cpu");
    return scale(a, lda, transposes ? cols : rows, transposes ? rows : cols);
  }
  route(
      call, rows * cols <= kSmallMatrix, true,
      [&](const HostOptions& options) {
        trine::transpose(view(Matrix<const T>{a, 1, lda}, rows, cols),
                         HostView{.data = b,
                                  .dtype = dtype_of<T>,
                                  .rows = cols,
                                  .cols = rows,
                                  .row_stride = 1,
                                  .col_stride = ldb},
                         options);
        if (alpha != 1) scale(b, ldb, cols, rows);
      },
      [&] { kernels<T>().turn(cols, rows, alpha, a, lda, b, ldb); });
}

#define TRINE_BLAS_OF(T)                                                                \
  template void gemm(const char*, const Product<T>&);                                   \
  template void gemv(const char*, T, const Matrix<const T>&, const Vector<const T>&, T, \
                     const Vector<T>&);                                                 \
  template T dot(const char*, const Vector<const T>&, const Vector<const T>&);          \
  template T asum(const char*, const Vector<const T>&);                                 \
  template T nrm2(const char*, const Vector<const T>&);                                 \
  template int64_t iamax(const char*, const Vector<const T>&);                          \
  template void axpy(const char*, T, const Vector<const T>&, const Vector<T>&);         \
  template void omatcopy(const char*, bool, int64_t, int64_t, T, const T*, int64_t, T*, int64_t);
TRINE_BLAS_OF(float)
TRINE_BLAS_OF(double)

}  // namespace trine::blas
