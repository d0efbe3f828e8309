// The names that programs call: arguments as BLAS has them, checked as the reference BLAS 3.11
// checks them (omatcopy: as OpenBLAS 0.3.21), and the reference's quick returns.
#include <algorithm>
#include <cstdint>
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

/// The error routines of a spelling (names.def); null where the program has none.
template <class Int>
struct Errors {
  void (*xerbla)(const char* routine, const Int* info, std::size_t length);
  void (*cblas_xerbla)(Int info, const char* routine, const char* form, ...);
};

/// The names of a routine: in the log, as xerbla_ gets it, in CBLAS; and where its errors go.
template <class Int>
struct Names {
  const char *log, *xerbla, *cblas;
  const Errors<Int>& errors;
};

template <class Int>
void report(const Names<Int>& names, Int info, Caller caller) {
  const int number = static_cast<int>(info);  // a parameter's
  const std::size_t length = std::strlen(names.xerbla);
  if (!names.errors.xerbla) return print_xerbla(names.xerbla, &number, length);
  CBLAS_CallFromC = caller != Caller::fortran;
  RowMajorStrg = caller == Caller::row_major;
  names.errors.xerbla(names.xerbla, &info, length);
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
template <class Int>
void report_setting(const Names<Int>& names, int info, const char* form, int value, int order) {
  if (!names.errors.cblas_xerbla) return print_parameter(info, names.cblas, form, value);
  RowMajorStrg = order == kRowMajor;
  names.errors.cblas_xerbla(info, names.cblas, form, value);
  RowMajorStrg = 0;
}

template <class T>
Matrix<const T> operand(const T* data, int64_t ld, bool transposed) {
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

template <class T, class Int>
void gemm(const Names<Int>& names, Caller caller, char ta, char tb, Int m, Int n, Int k, T alpha,
          const T* a, Int lda, const T* b, Int ldb, T beta, T* c, Int ldc) {
  const bool turns_a = ta != 'N', turns_b = tb != 'N';
  const Int info = !is_trans(ta)                             ? 1
                   : !is_trans(tb)                           ? 2
                   : m < 0                                   ? 3
                   : n < 0                                   ? 4
                   : k < 0                                   ? 5
                   : lda < std::max<Int>(1, turns_a ? k : m) ? 8
                   : ldb < std::max<Int>(1, turns_b ? n : k) ? 10
                   : ldc < std::max<Int>(1, m)               ? 13
                                                             : 0;
  if (info != 0) return report(names, info, caller);
  if (m == 0 || n == 0 || ((alpha == 0 || k == 0) && beta == 1)) return;
  const Product<T> product{m,    n, k,  alpha, operand(a, lda, turns_a), operand(b, ldb, turns_b),
                           beta, c, ldc};
  if (direct.takes(m, n, k)) [[likely]]
    return kernels<T>().gemm(product);
  blas::gemm<T>(names.log, product);
}

template <class T, class Int>
void cblas_gemm(const Names<Int>& names, int order, int trans_a, int trans_b, Int m, Int n, Int k,
                T alpha, const T* a, Int lda, const T* b, Int ldb, T beta, T* c, Int ldc) {
  const char ta = letter_of(trans_a), tb = letter_of(trans_b);
  if (order != kColMajor && order != kRowMajor)
    return report_setting(names, 1, "Illegal Order setting, %d\n", order, order);
  if (!ta) return report_setting(names, 2, "Illegal TransA setting, %d\n", trans_a, order);
  if (!tb) return report_setting(names, 3, "Illegal TransB setting, %d\n", trans_b, order);
  if (order == kColMajor)
    return gemm(names, Caller::col_major, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  // In column-major eyes everything is transposed: c' = b' a'.
  gemm(names, Caller::row_major, tb, ta, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
}

template <class T, class Int>
void gemv(const Names<Int>& names, Caller caller, char trans, Int m, Int n, T alpha, const T* a,
          Int lda, const T* x, Int incx, T beta, T* y, Int incy) {
  const Int info = !is_trans(trans)            ? 1
                   : m < 0                     ? 2
                   : n < 0                     ? 3
                   : lda < std::max<Int>(1, m) ? 6
                   : incx == 0                 ? 8
                   : incy == 0                 ? 11
                                               : 0;
  if (info != 0) return report(names, info, caller);
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

template <class T, class Int>
void cblas_gemv(const Names<Int>& names, int order, int trans_a, Int m, Int n, T alpha, const T* a,
                Int lda, const T* x, Int incx, T beta, T* y, Int incy) {
  const char trans = letter_of(trans_a);
  if (order != kColMajor && order != kRowMajor)
    return report_setting(names, 1, "Illegal Order setting, %d\n", order, order);
  if (!trans) return report_setting(names, 2, "Illegal TransA setting, %d\n", trans_a, order);
  if (order == kColMajor)
    return gemv(names, Caller::col_major, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
  gemv(names, Caller::row_major, trans == 'N' ? 'T' : 'N', n, m, alpha, a, lda, x, incx, beta, y,
       incy);
}

template <class T, class Int>
T dot(const Names<Int>& names, Int n, const T* x, Int incx, const T* y, Int incy) {
  if (n <= 0) return 0;
  x = first_of(x, n, incx);
  y = first_of(y, n, incy);
  if (n <= direct.vector) [[likely]]
    return kernels<T>().dot(n, x, incx, y, incy);
  return blas::dot<T>(names.log, {x, n, incx}, {y, n, incy});
}
template <class T, class Int>
T asum(const Names<Int>& names, Int n, const T* x, Int incx) {
  if (n <= 0 || incx <= 0) return 0;
  if (n <= direct.vector) [[likely]]
    return kernels<T>().asum(n, x, incx);
  return blas::asum<T>(names.log, {x, n, incx});
}
template <class T, class Int>
T nrm2(const Names<Int>& names, Int n, const T* x, Int incx) {
  if (n <= 0) return 0;
  x = first_of(x, n, incx);
  if (n <= direct.vector) [[likely]]
    return kernels<T>().nrm2(n, x, incx);
  return blas::nrm2<T>(names.log, {x, n, incx});
}
/// From 1; 0 where there is nothing.
template <class T, class Int>
Int iamax(const Names<Int>& names, Int n, const T* x, Int incx) {
  if (n <= 0 || incx <= 0) return 0;
  if (n <= direct.vector) [[likely]]
    return static_cast<Int>(kernels<T>().iamax(n, x, incx)) + 1;
  return static_cast<Int>(blas::iamax<T>(names.log, {x, n, incx})) + 1;
}
template <class T, class Int>
void axpy(const Names<Int>& names, Int n, T alpha, const T* x, Int incx, T* y, Int incy) {
  if (n <= 0 || alpha == 0) return;
  x = first_of(x, n, incx);
  y = first_of(y, n, incy);
  if (n <= direct.vector) [[likely]]
    return kernels<T>().axpy(n, alpha, x, incx, y, incy);
  blas::axpy<T>(names.log, alpha, {x, n, incx}, {y, n, incy});
}

/// `order` and `trans`: R, C; N, R, T, C. OpenBLAS reports the last check that fails.
template <class T, class Int>
void omatcopy(const Names<Int>& names, Caller caller, char order, char trans, Int rows, Int cols,
              T alpha, const T* a, Int lda, T* b, Int ldb) {
  const bool transposes = trans == 'T' || trans == 'C';
  const bool by_rows = order == 'R';
  const Int length = by_rows ? cols : rows, other = by_rows ? rows : cols;
  const Int info = order != 'R' && order != 'C'                  ? 1
                   : !transposes && trans != 'N' && trans != 'R' ? 2
                   : rows <= 0                                   ? 3
                   : cols <= 0                                   ? 4
                   : lda < length                                ? 7
                   : ldb < (transposes ? other : length)         ? 9
                                                                 : 0;
  if (info != 0) return report(names, info, caller);
  if (alpha != 0 && direct.takes(rows, cols)) [[likely]] {
    const Kernels<T>& all = kernels<T>();
    return (transposes ? all.turn : all.copy)(length, other, alpha, a, lda, b, ldb);
  }
  blas::omatcopy<T>(names.log, transposes, length, other, alpha, a, lda, b, ldb);
}

template <class T, class Int>
void cblas_omatcopy(const Names<Int>& names, int order, int trans, Int rows, Int cols, T alpha,
                    const T* a, Int lda, T* b, Int ldb) {
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

// forward.S has xerbla_ and cblas_xerbla. The others are weak: a program has them, or a library
// that it was started with.
#define SPELLING(prefix, suffix, Int)                                                             \
  extern "C" [[gnu::weak]] void prefix##xerbla_##suffix(const char*, const Int*, std::size_t);    \
  extern "C" [[gnu::weak]] void prefix##cblas_xerbla##suffix(Int, const char*, const char*, ...); \
  static constexpr entry::Errors<Int> prefix##errors##suffix{prefix##xerbla_##suffix,             \
                                                             prefix##cblas_xerbla##suffix};
#define COMPUTED(name)
#define FORWARD(name)
#include "names.def"
#undef SPELLING

#define NAMES(errors, name, NAME) \
  entry::Names { name, NAME, "cblas_" name, errors }
// Fortran passes addresses; the lengths of its strings come last and aren't read. s, S: the letter.
#define TRINE_BLAS_ROUTINES(prefix, suffix, Int, s, S, T)                                          \
  TRINE_BLAS_SHOWN void prefix##s##gemm_##suffix(                                                  \
      const char* ta, const char* tb, const Int* m, const Int* n, const Int* k, const T* alpha,    \
      const T* a, const Int* lda, const T* b, const Int* ldb, const T* beta, T* c,                 \
      const Int* ldc) {                                                                            \
    entry::gemm<T>(NAMES(prefix##errors##suffix, #s "gemm", #S "GEMM "), entry::Caller::fortran,   \
                   entry::upper(ta), entry::upper(tb), *m, *n, *k, *alpha, a, *lda, b, *ldb,       \
                   *beta, c, *ldc);                                                                \
  }                                                                                                \
  TRINE_BLAS_SHOWN void prefix##cblas_##s##gemm##suffix(                                           \
      int order, int ta, int tb, Int m, Int n, Int k, T alpha, const T* a, Int lda, const T* b,    \
      Int ldb, T beta, T* c, Int ldc) {                                                            \
    entry::cblas_gemm<T>(NAMES(prefix##errors##suffix, #s "gemm", #S "GEMM "), order, ta, tb, m,   \
                         n, k, alpha, a, lda, b, ldb, beta, c, ldc);                               \
  }                                                                                                \
  TRINE_BLAS_SHOWN void prefix##s##gemv_##suffix(                                                  \
      const char* trans, const Int* m, const Int* n, const T* alpha, const T* a, const Int* lda,   \
      const T* x, const Int* incx, const T* beta, T* y, const Int* incy) {                         \
    entry::gemv<T>(NAMES(prefix##errors##suffix, #s "gemv", #S "GEMV "), entry::Caller::fortran,   \
                   entry::upper(trans), *m, *n, *alpha, a, *lda, x, *incx, *beta, y, *incy);       \
  }                                                                                                \
  TRINE_BLAS_SHOWN void prefix##cblas_##s##gemv##suffix(int order, int trans, Int m, Int n,        \
                                                        T alpha, const T* a, Int lda, const T* x,  \
                                                        Int incx, T beta, T* y, Int incy) {        \
    entry::cblas_gemv<T>(NAMES(prefix##errors##suffix, #s "gemv", #S "GEMV "), order, trans, m, n, \
                         alpha, a, lda, x, incx, beta, y, incy);                                   \
  }                                                                                                \
  TRINE_BLAS_SHOWN T prefix##s##dot_##suffix(const Int* n, const T* x, const Int* incx,            \
                                             const T* y, const Int* incy) {                        \
    return entry::dot<T>(NAMES(prefix##errors##suffix, #s "dot", ""), *n, x, *incx, y, *incy);     \
  }                                                                                                \
  TRINE_BLAS_SHOWN T prefix##cblas_##s##dot##suffix(Int n, const T* x, Int incx, const T* y,       \
                                                    Int incy) {                                    \
    return entry::dot<T>(NAMES(prefix##errors##suffix, #s "dot", ""), n, x, incx, y, incy);        \
  }                                                                                                \
  TRINE_BLAS_SHOWN T prefix##s##asum_##suffix(const Int* n, const T* x, const Int* incx) {         \
    return entry::asum<T>(NAMES(prefix##errors##suffix, #s "asum", ""), *n, x, *incx);             \
  }                                                                                                \
  TRINE_BLAS_SHOWN T prefix##cblas_##s##asum##suffix(Int n, const T* x, Int incx) {                \
    return entry::asum<T>(NAMES(prefix##errors##suffix, #s "asum", ""), n, x, incx);               \
  }                                                                                                \
  TRINE_BLAS_SHOWN T prefix##s##nrm2_##suffix(const Int* n, const T* x, const Int* incx) {         \
    return entry::nrm2<T>(NAMES(prefix##errors##suffix, #s "nrm2", ""), *n, x, *incx);             \
  }                                                                                                \
  TRINE_BLAS_SHOWN T prefix##cblas_##s##nrm2##suffix(Int n, const T* x, Int incx) {                \
    return entry::nrm2<T>(NAMES(prefix##errors##suffix, #s "nrm2", ""), n, x, incx);               \
  }                                                                                                \
  TRINE_BLAS_SHOWN Int prefix##i##s##amax_##suffix(const Int* n, const T* x, const Int* incx) {    \
    return entry::iamax<T>(NAMES(prefix##errors##suffix, "i" #s "amax", ""), *n, x, *incx);        \
  }                                                                                                \
  TRINE_BLAS_SHOWN std::size_t prefix##cblas_i##s##amax##suffix(Int n, const T* x, Int incx) {     \
    return static_cast<std::size_t>(                                                               \
        std::max<Int>(                                                                             \
            entry::iamax<T>(NAMES(prefix##errors##suffix, "i" #s "amax", ""), n, x, incx), 1) -    \
        1);                                                                                        \
  }                                                                                                \
  TRINE_BLAS_SHOWN void prefix##s##axpy_##suffix(const Int* n, const T* alpha, const T* x,         \
                                                 const Int* incx, T* y, const Int* incy) {         \
    entry::axpy<T>(NAMES(prefix##errors##suffix, #s "axpy", ""), *n, *alpha, x, *incx, y, *incy);  \
  }                                                                                                \
  TRINE_BLAS_SHOWN void prefix##cblas_##s##axpy##suffix(Int n, T alpha, const T* x, Int incx,      \
                                                        T* y, Int incy) {                          \
    entry::axpy<T>(NAMES(prefix##errors##suffix, #s "axpy", ""), n, alpha, x, incx, y, incy);      \
  }                                                                                                \
  TRINE_BLAS_SHOWN void prefix##s##omatcopy_##suffix(                                              \
      const char* order, const char* trans, const Int* rows, const Int* cols, const T* alpha,      \
      const T* a, const Int* lda, T* b, const Int* ldb) {                                          \
    entry::omatcopy<T>(NAMES(prefix##errors##suffix, #s "omatcopy", #S "OMATCOPY"),                \
                       entry::Caller::fortran, entry::upper(order), entry::upper(trans), *rows,    \
                       *cols, *alpha, a, *lda, b, *ldb);                                           \
  }                                                                                                \
  TRINE_BLAS_SHOWN void prefix##cblas_##s##omatcopy##suffix(                                       \
      int order, int trans, Int rows, Int cols, T alpha, const T* a, Int lda, T* b, Int ldb) {     \
    entry::cblas_omatcopy<T>(NAMES(prefix##errors##suffix, #s "omatcopy", #S "OMATCOPY"), order,   \
                             trans, rows, cols, alpha, a, lda, b, ldb);                            \
  }

#define SPELLING(prefix, suffix, Int)                   \
  TRINE_BLAS_ROUTINES(prefix, suffix, Int, s, S, float) \
  TRINE_BLAS_ROUTINES(prefix, suffix, Int, d, D, double)
extern "C" {
#include "names.def"
}
