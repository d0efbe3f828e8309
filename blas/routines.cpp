// The names that programs call: arguments as BLAS has them, checked as the reference BLAS 3.11
// checks them (omatcopy: as OpenBLAS 0.3.21), and the reference's quick returns.
#include <algorithm>
#include <cstring>

#include "compute.hpp"
#include "route.hpp"
#include "xerbla.hpp"

extern "C" {
int CBLAS_CallFromC = 0, RowMajorStrg = 0;
}

namespace trine::blas::entry {
namespace {

/// Who called: it decides what xerbla_ is told.
enum class Caller { fortran, col_major, row_major };

void report(const char* routine, int info, Caller caller) {
  CBLAS_CallFromC = caller != Caller::fortran;
  RowMajorStrg = caller == Caller::row_major;
  xerbla_(routine, &info, std::strlen(routine));
  CBLAS_CallFromC = RowMajorStrg = 0;
}

char upper(const char* letter) {
  return static_cast<char>(*letter >= 'a' && *letter <= 'z' ? *letter - 'a' + 'A' : *letter);
}
bool is_trans(char trans) { return trans == 'N' || trans == 'T' || trans == 'C'; }

constexpr int kRowMajor = 101, kColMajor = 102;
/// The letter of a CBLAS_TRANSPOSE, 0 where it is none; real matrices have no conjugate.
char letter_of(int trans) {
  return trans == 111 ? 'N' : trans == 112 ? 'T' : trans == 113 ? 'C' : '\0';
}
/// Says which value of an enumeration is wrong, as the reference's CBLAS does.
void report_setting(int info, const char* routine, const char* form, int value, int order) {
  RowMajorStrg = order == kRowMajor;
  cblas_xerbla(info, routine, form, value);
  RowMajorStrg = 0;
}

template <class T>
Matrix<const T> operand(const T* data, int ld, bool transposed) {
  return transposed ? Matrix<const T>{data, ld, 1} : Matrix<const T>{data, 1, ld};
}

/// A vector of BLAS: with a negative increment, its first element is the last in memory.
template <class T>
T* first_of(T* data, int64_t size, int64_t increment) {
  if (increment < 0) [[unlikely]]
    data -= (size - 1) * increment;
  return data;
}
template <class T>
Vector<T> vector(T* data, int64_t size, int64_t increment) {
  return {first_of(data, size, increment), size, increment};
}

/// The names of a routine: in the log, as xerbla_ gets it, in CBLAS.
struct Names {
  const char *log, *xerbla, *cblas;
};

template <class T>
void gemm(const Names& names, Caller caller, char ta, char tb, int m, int n, int k, T alpha,
          const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) {
  const bool turns_a = ta != 'N', turns_b = tb != 'N';
  const int info = !is_trans(ta)                        ? 1
                   : !is_trans(tb)                      ? 2
                   : m < 0                              ? 3
                   : n < 0                              ? 4
                   : k < 0                              ? 5
                   : lda < std::max(1, turns_a ? k : m) ? 8
                   : ldb < std::max(1, turns_b ? n : k) ? 10
                   : ldc < std::max(1, m)               ? 13
                                                        : 0;
  if (info != 0) return report(names.xerbla, info, caller);
  if (m == 0 || n == 0 || ((alpha == 0 || k == 0) && beta == 1)) return;
  const Product<T> product{m,    n, k,  alpha, operand(a, lda, turns_a), operand(b, ldb, turns_b),
                           beta, c, ldc};
  if (direct.takes(m, n, k)) [[likely]]
    return kernels<T>().gemm(product);
  blas::gemm<T>(names.log, product);
}

template <class T>
void cblas_gemm(const Names& names, int order, int trans_a, int trans_b, int m, int n, int k,
                T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) {
  const char ta = letter_of(trans_a), tb = letter_of(trans_b);
  if (order != kColMajor && order != kRowMajor)
    return report_setting(1, names.cblas, "Illegal Order setting, %d\n", order, order);
  if (!ta) return report_setting(2, names.cblas, "Illegal TransA setting, %d\n", trans_a, order);
  if (!tb) return report_setting(3, names.cblas, "Illegal TransB setting, %d\n", trans_b, order);
  if (order == kColMajor)
    return gemm(names, Caller::col_major, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  // In column-major eyes everything is transposed: c' = b' a'.
  gemm(names, Caller::row_major, tb, ta, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
}

template <class T>
void gemv(const Names& names, Caller caller, char trans, int m, int n, T alpha, const T* a, int lda,
          const T* x, int incx, T beta, T* y, int incy) {
  const int info = !is_trans(trans)       ? 1
                   : m < 0                ? 2
                   : n < 0                ? 3
                   : lda < std::max(1, m) ? 6
                   : incx == 0            ? 8
                   : incy == 0            ? 11
                                          : 0;
  if (info != 0) return report(names.xerbla, info, caller);
  if (m == 0 || n == 0 || (alpha == 0 && beta == 1)) return;
  const bool turns = trans != 'N';
  if (incx == 1 && incy == 1 && direct.takes(m, n)) [[likely]] {
    const int64_t rows = turns ? n : m, cols = turns ? m : n;
    return kernels<T>().gemm(
        {rows, 1, cols, alpha, operand(a, lda, turns), {x, 1, cols}, beta, y, rows});
  }
  blas::gemv<T>(names.log, alpha, operand(a, lda, turns), vector(x, turns ? m : n, incx), beta,
                vector(y, turns ? n : m, incy));
}

template <class T>
void cblas_gemv(const Names& names, int order, int trans_a, int m, int n, T alpha, const T* a,
                int lda, const T* x, int incx, T beta, T* y, int incy) {
  const char trans = letter_of(trans_a);
  if (order != kColMajor && order != kRowMajor)
    return report_setting(1, names.cblas, "Illegal Order setting, %d\n", order, order);
  if (!trans) return report_setting(2, names.cblas, "Illegal TransA setting, %d\n", trans_a, order);
  if (order == kColMajor)
    return gemv(names, Caller::col_major, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
  gemv(names, Caller::row_major, trans == 'N' ? 'T' : 'N', n, m, alpha, a, lda, x, incx, beta, y,
       incy);
}

template <class T>
T dot(const Names& names, int n, const T* x, int incx, const T* y, int incy) {
  if (n <= 0) return 0;
  x = first_of(x, n, incx);
  y = first_of(y, n, incy);
  if (n <= direct.vector) [[likely]]
    return kernels<T>().dot(n, x, incx, y, incy);
  return blas::dot<T>(names.log, {x, n, incx}, {y, n, incy});
}
template <class T>
T asum(const Names& names, int n, const T* x, int incx) {
  if (n <= 0 || incx <= 0) return 0;
  if (n <= direct.vector) [[likely]]
    return kernels<T>().asum(n, x, incx);
  return blas::asum<T>(names.log, {x, n, incx});
}
template <class T>
T nrm2(const Names& names, int n, const T* x, int incx) {
  if (n <= 0) return 0;
  x = first_of(x, n, incx);
  if (n <= direct.vector) [[likely]]
    return kernels<T>().nrm2(n, x, incx);
  return blas::nrm2<T>(names.log, {x, n, incx});
}
/// From 1; 0 where there is nothing.
template <class T>
int iamax(const Names& names, int n, const T* x, int incx) {
  if (n <= 0 || incx <= 0) return 0;
  if (n <= direct.vector) [[likely]]
    return static_cast<int>(kernels<T>().iamax(n, x, incx)) + 1;
  return static_cast<int>(blas::iamax<T>(names.log, {x, n, incx})) + 1;
}
template <class T>
void axpy(const Names& names, int n, T alpha, const T* x, int incx, T* y, int incy) {
  if (n <= 0 || alpha == 0) return;
  x = first_of(x, n, incx);
  y = first_of(y, n, incy);
  if (n <= direct.vector) [[likely]]
    return kernels<T>().axpy(n, alpha, x, incx, y, incy);
  blas::axpy<T>(names.log, alpha, {x, n, incx}, {y, n, incy});
}

/// `order` and `trans`: R, C; N, R, T, C. OpenBLAS reports the last check that fails.
template <class T>
void omatcopy(const Names& names, Caller caller, char order, char trans, int rows, int cols,
              T alpha, const T* a, int lda, T* b, int ldb) {
  const bool transposes = trans == 'T' || trans == 'C';
  const bool by_rows = order == 'R';
  const int length = by_rows ? cols : rows, other = by_rows ? rows : cols;
  const int info = order != 'R' && order != 'C'                  ? 1
                   : !transposes && trans != 'N' && trans != 'R' ? 2
                   : rows <= 0                                   ? 3
                   : cols <= 0                                   ? 4
                   : lda < length                                ? 7
                   : ldb < (transposes ? other : length)         ? 9
                                                                 : 0;
  if (info != 0) return report(names.xerbla, info, caller);
  if (alpha != 0 && direct.takes(rows, cols)) [[likely]] {
    const Kernels<T>& all = kernels<T>();
    return (transposes ? all.turn : all.copy)(length, other, alpha, a, lda, b, ldb);
  }
  blas::omatcopy<T>(names.log, transposes, length, other, alpha, a, lda, b, ldb);
}

template <class T>
void cblas_omatcopy(const Names& names, int order, int trans, int rows, int cols, T alpha,
                    const T* a, int lda, T* b, int ldb) {
  const char letter = trans == 114 ? 'R' : letter_of(trans);
  omatcopy(names, Caller::col_major,
           order == kRowMajor   ? 'R'
           : order == kColMajor ? 'C'
                                : '\0',
           letter, rows, cols, alpha, a, lda, b, ldb);
}

}  // namespace
}  // namespace trine::blas::entry

namespace entry = trine::blas::entry;

// Fortran passes addresses; the lengths of its strings come last and aren't read. s, S: the letter.
#define NAMES(name, NAME) \
  { name, NAME, "cblas_" name }
#define TRINE_BLAS_ROUTINES(s, S, T)                                                               \
  TRINE_BLAS_SHOWN void s##gemm_(const char* ta, const char* tb, const int* m, const int* n,       \
                                 const int* k, const T* alpha, const T* a, const int* lda,         \
                                 const T* b, const int* ldb, const T* beta, T* c,                  \
                                 const int* ldc) {                                                 \
    entry::gemm<T>(NAMES(#s "gemm", #S "GEMM "), entry::Caller::fortran, entry::upper(ta),         \
                   entry::upper(tb), *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);        \
  }                                                                                                \
  TRINE_BLAS_SHOWN void cblas_##s##gemm(int order, int ta, int tb, int m, int n, int k, T alpha,   \
                                        const T* a, int lda, const T* b, int ldb, T beta, T* c,    \
                                        int ldc) {                                                 \
    entry::cblas_gemm<T>(NAMES(#s "gemm", #S "GEMM "), order, ta, tb, m, n, k, alpha, a, lda, b,   \
                         ldb, beta, c, ldc);                                                       \
  }                                                                                                \
  TRINE_BLAS_SHOWN void s##gemv_(const char* trans, const int* m, const int* n, const T* alpha,    \
                                 const T* a, const int* lda, const T* x, const int* incx,          \
                                 const T* beta, T* y, const int* incy) {                           \
    entry::gemv<T>(NAMES(#s "gemv", #S "GEMV "), entry::Caller::fortran, entry::upper(trans), *m,  \
                   *n, *alpha, a, *lda, x, *incx, *beta, y, *incy);                                \
  }                                                                                                \
  TRINE_BLAS_SHOWN void cblas_##s##gemv(int order, int trans, int m, int n, T alpha, const T* a,   \
                                        int lda, const T* x, int incx, T beta, T* y, int incy) {   \
    entry::cblas_gemv<T>(NAMES(#s "gemv", #S "GEMV "), order, trans, m, n, alpha, a, lda, x, incx, \
                         beta, y, incy);                                                           \
  }                                                                                                \
  TRINE_BLAS_SHOWN T s##dot_(const int* n, const T* x, const int* incx, const T* y,                \
                             const int* incy) {                                                    \
    return entry::dot<T>(NAMES(#s "dot", ""), *n, x, *incx, y, *incy);                             \
  }                                                                                                \
  TRINE_BLAS_SHOWN T cblas_##s##dot(int n, const T* x, int incx, const T* y, int incy) {           \
    return entry::dot<T>(NAMES(#s "dot", ""), n, x, incx, y, incy);                                \
  }                                                                                                \
  TRINE_BLAS_SHOWN T s##asum_(const int* n, const T* x, const int* incx) {                         \
    return entry::asum<T>(NAMES(#s "asum", ""), *n, x, *incx);                                     \
  }                                                                                                \
  TRINE_BLAS_SHOWN T cblas_##s##asum(int n, const T* x, int incx) {                                \
    return entry::asum<T>(NAMES(#s "asum", ""), n, x, incx);                                       \
  }                                                                                                \
  TRINE_BLAS_SHOWN T s##nrm2_(const int* n, const T* x, const int* incx) {                         \
    return entry::nrm2<T>(NAMES(#s "nrm2", ""), *n, x, *incx);                                     \
  }                                                                                                \
  TRINE_BLAS_SHOWN T cblas_##s##nrm2(int n, const T* x, int incx) {                                \
    return entry::nrm2<T>(NAMES(#s "nrm2", ""), n, x, incx);                                       \
  }                                                                                                \
  TRINE_BLAS_SHOWN int i##s##amax_(const int* n, const T* x, const int* incx) {                    \
    return entry::iamax<T>(NAMES("i" #s "amax", ""), *n, x, *incx);                                \
  }                                                                                                \
  TRINE_BLAS_SHOWN std::size_t cblas_i##s##amax(int n, const T* x, int incx) {                     \
    return static_cast<std::size_t>(                                                               \
        std::max(entry::iamax<T>(NAMES("i" #s "amax", ""), n, x, incx), 1) - 1);                   \
  }                                                                                                \
  TRINE_BLAS_SHOWN void s##axpy_(const int* n, const T* alpha, const T* x, const int* incx, T* y,  \
                                 const int* incy) {                                                \
    entry::axpy<T>(NAMES(#s "axpy", ""), *n, *alpha, x, *incx, y, *incy);                          \
  }                                                                                                \
  TRINE_BLAS_SHOWN void cblas_##s##axpy(int n, T alpha, const T* x, int incx, T* y, int incy) {    \
    entry::axpy<T>(NAMES(#s "axpy", ""), n, alpha, x, incx, y, incy);                              \
  }                                                                                                \
  TRINE_BLAS_SHOWN void s##omatcopy_(const char* order, const char* trans, const int* rows,        \
                                     const int* cols, const T* alpha, const T* a, const int* lda,  \
                                     T* b, const int* ldb) {                                       \
    entry::omatcopy<T>(NAMES(#s "omatcopy", #S "OMATCOPY"), entry::Caller::fortran,                \
                       entry::upper(order), entry::upper(trans), *rows, *cols, *alpha, a, *lda, b, \
                       *ldb);                                                                      \
  }                                                                                                \
  TRINE_BLAS_SHOWN void cblas_##s##omatcopy(int order, int trans, int rows, int cols, T alpha,     \
                                            const T* a, int lda, T* b, int ldb) {                  \
    entry::cblas_omatcopy<T>(NAMES(#s "omatcopy", #S "OMATCOPY"), order, trans, rows, cols, alpha, \
                             a, lda, b, ldb);                                                      \
  }

extern "C" {
TRINE_BLAS_ROUTINES(s, S, float)
TRINE_BLAS_ROUTINES(d, D, double)
}
