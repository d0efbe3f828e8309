#include "compute.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>

#include "flags.hpp"
#include "route.hpp"

namespace trine::blas {
namespace {

/// A vector's elements side by side: the vector itself, or a copy. Trine's views, which know no
/// negative strides, take nothing else. data() is null where there is no memory
/// for it.
template <class T>
class Dense {
 public:
  explicit Dense(const Vector<T>& x) : from_(x), data_(x.data) {
    if (x.stride == 1 || x.size <= 1) return;
    copy_.reset(new (std::nothrow) Element[x.size]);
    Element* const copy = copy_.get();
    for (int64_t i = 0; copy && i < x.size; ++i) copy[i] = x.data[i * x.stride];
    data_ = copy;
  }
  T* data() const { return data_; }
  /// Throws where there is no memory.
  T* needed() const {
    if (!data_) throw std::bad_alloc();
    return data_;
  }
  /// Where the elements were changed.
  void put_back() const {
    if (data_ == from_.data) return;
    for (int64_t i = 0; i < from_.size; ++i) from_.data[i * from_.stride] = data_[i];
  }

 private:
  using Element = std::remove_const_t<T>;
  const Vector<T> from_;
  T* data_;
  std::unique_ptr<Element[]> copy_;
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

/// On the calling thread.
template <class T>
void multiply_here(const Product<T>& p) {
  is_exact() ? exact_gemm(p) : kernels<T>().gemm(p);
}

/// How the log names an exact product.
Extent exactness() { return {is_exact() ? "exact" : nullptr, 1}; }

template <class T>
void multiply(LoggedCall& call, const Product<T>& p, bool is_small) {
  // A and B aren't read then, and may be null, which a device's call would refuse.
  if (!p.reads_inputs()) return call.ran_on("cpu"), kernels<T>().gemm(p);
  const auto multiply_on = [&](const HostOptions& options) {
    const HostView c{.data = p.c,
                     .dtype = dtype_of<T>,
                     .rows = p.m,
                     .cols = p.n,
                     .row_stride = 1,
                     .col_stride = p.ldc};
    trine::gemm(p.alpha, view(p.a, p.m, p.k), view(p.b, p.k, p.n), p.beta, c, options);
    raise_flags_of(p);
  };
  route(call, is_small, p.beta == 0, multiply_on, [&] {
    // Where a device has failed, Trine's CPU is far faster at exact products than exact_gemm() is.
    if (is_exact() && !is_small && p.beta == 0) try {
        return multiply_on({.device = "cpu", .numerics = Numerics::exact});
      } catch (const std::exception&) {}
    multiply_here(p);
  });
}

}  // namespace

template <class T>
void gemm(const char* routine, const Product<T>& p) {
  LoggedCall call(routine, {{"m", p.m}, {"n", p.n}, {"k", p.k}, exactness()});
  multiply(call, p, small.takes(p.m, p.n, p.k));
}

template <class T>
void gemv(const char* routine, T alpha, const Matrix<const T>& a, const Vector<const T>& x, T beta,
          const Vector<T>& y) {
  LoggedCall call(routine, {{"m", y.size}, {"n", 1}, {"k", x.size}, exactness()});
  const bool reads_x = alpha != 0;  // else it may be null
  const Vector<const T> read{x.data, reads_x ? x.size : 0, x.stride};
  const Dense in(read);
  const Dense out(y);
  const auto product = [&](int64_t m, T* c) {
    return Product<T>{m, 1, x.size, alpha, a, {in.data(), 1, x.size}, beta, c, y.size};
  };
  if ((in.data() || !reads_x) && out.data()) {
    multiply<T>(call, product(y.size, out.data()), small.takes(y.size, x.size));
    return out.put_back();
  }
  call.ran_on("cpu", "out of memory");
  Product<T> row = product(1, nullptr);  // one at a time, from where x lies
  row.b = {x.data, x.stride, x.size};
  for (int64_t i = 0; i < y.size; ++i, row.a.data += a.row_stride) {
    row.c = y.data + i * y.stride;
    multiply_here(row);
  }
}

template <class T>
T dot(const char* routine, const Vector<const T>& x, const Vector<const T>& y) {
  LoggedCall call(routine, {{"n", x.size}});
  T result;
  route(
      call, x.size <= small.vector, true,
      [&](const HostOptions& options) {
        const Dense a(x), b(y);
        result = trine::dot(std::span(a.needed(), x.size), std::span(b.needed(), x.size), options);
        const Flags flags{flags_of_sum(result, x.size, a.data(), 1, b.data(), 1)};
      },
      [&] { result = kernels<T>().dot(x.size, x.data, x.stride, y.data, y.stride); });
  return result;
}

template <class T>
T asum(const char* routine, const Vector<const T>& x) {
  LoggedCall call(routine, {{"n", x.size}});
  T result;
  route(
      call, x.size <= small.vector, true,
      [&](const HostOptions& options) {
        const Dense a(x);
        result = trine::sum(std::span(a.needed(), x.size), Map::abs, options);
        const Flags flags{flags_of_sum(result, x.size, a.data(), 1, a.data(), 1)};
      },
      [&] { result = kernels<T>().asum(x.size, x.data, x.stride); });
  return result;
}

template <class T>
T nrm2(const char* routine, const Vector<const T>& x) {
  LoggedCall call(routine, {{"n", x.size}});
  T result;
  route(
      call, x.size <= small.vector, true,
      [&](const HostOptions& options) {
        const Dense a(x);
        result = static_cast<T>(trine::norm(view(a.needed(), x.size), options));
        const Flags flags{flags_of_sum(result, x.size, a.data(), 1, a.data(), 1)};
      },
      [&] { result = kernels<T>().nrm2(x.size, x.data, x.stride); });
  return result;
}

template <class T>
int64_t iamax(const char* routine, const Vector<const T>& x) {
  LoggedCall call(routine, {{"n", x.size}});
  if (std::isnan(x.data[0])) return call.ran_on("cpu"), 0;  // nothing is greater
  int64_t at = 0;
  const auto here = [&] { at = kernels<T>().iamax(x.size, x.data, x.stride); };
  if (x.stride != 1) return call.ran_on("cpu"), here(), at;
  route(
      call, x.size <= small.vector, true,
      [&](const HostOptions& options) {
        reduce(Function::argmax, Map::abs, Axis::all, view(x.data, x.size),
               host_vector(&at, Dtype::i64, 1), options);
        if (std::isnan(x.data[at])) here();  // Trine's is the first NaN, BLAS's none
      },
      here);
  return at;
}

template <class T>
void axpy(const char* routine, T alpha, const Vector<const T>& x, const Vector<T>& y) {
  LoggedCall call(routine, {{"n", x.size}});
  call.ran_on("cpu");
  kernels<T>().axpy(x.size, alpha, x.data, x.stride, y.data, y.stride);
}

template <class T>
void omatcopy(const char* routine, bool transposes, int64_t rows, int64_t cols, T alpha, const T* a,
              int64_t lda, T* b, int64_t ldb) {
  LoggedCall call(routine, {{"rows", rows}, {"cols", cols}, {"transposed", transposes}});
  if (alpha == 0) {
    call.ran_on("cpu");
    const int64_t length = transposes ? cols : rows, count = transposes ? rows : cols;
    for (int64_t j = 0; j < count; ++j) std::fill_n(b + j * ldb, length, T(0));
    return;
  }
  if (!transposes) return call.ran_on("cpu"), kernels<T>().copy(rows, cols, alpha, a, lda, b, ldb);
  route(
      call, small.takes(rows, cols), true,
      [&](const HostOptions& options) {
        trine::transpose(view(Matrix<const T>{a, 1, lda}, rows, cols),
                         HostView{.data = b,
                                  .dtype = dtype_of<T>,
                                  .rows = cols,
                                  .cols = rows,
                                  .row_stride = 1,
                                  .col_stride = ldb},
                         options);
        if (alpha != 1) kernels<T>().copy(cols, rows, alpha, b, ldb, b, ldb);
      },
      [&] { kernels<T>().turn(rows, cols, alpha, a, lda, b, ldb); });
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
