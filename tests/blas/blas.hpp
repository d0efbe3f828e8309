// The shim's routines as a program declares them, by type.
#pragma once

#include <cstddef>

#define BLAS_ROUTINES(s, T)                                                                       \
  T s##dot_(const int*, const T*, const int*, const T*, const int*);                              \
  T s##asum_(const int*, const T*, const int*);                                                   \
  T s##nrm2_(const int*, const T*, const int*);                                                   \
  int i##s##amax_(const int*, const T*, const int*);                                              \
  void s##axpy_(const int*, const T*, const T*, const int*, T*, const int*);                      \
  void s##gemv_(const char*, const int*, const int*, const T*, const T*, const int*, const T*,    \
                const int*, const T*, T*, const int*);                                            \
  void s##gemm_(const char*, const char*, const int*, const int*, const int*, const T*, const T*, \
                const int*, const T*, const int*, const T*, T*, const int*);                      \
  void s##omatcopy_(const char*, const char*, const int*, const int*, const T*, const T*,         \
                    const int*, T*, const int*);
extern "C" {
BLAS_ROUTINES(s, float)
BLAS_ROUTINES(d, double)
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int,
                 double, double*, int);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*,
            const double*, const double*, const int*, double*, const int*);
}

template <class T>
struct Blas;
#define BLAS_TABLE(s, T)                           \
  template <>                                      \
  struct Blas<T> {                                 \
    static constexpr auto dot = s##dot_;           \
    static constexpr auto asum = s##asum_;         \
    static constexpr auto nrm2 = s##nrm2_;         \
    static constexpr auto iamax = i##s##amax_;     \
    static constexpr auto axpy = s##axpy_;         \
    static constexpr auto gemv = s##gemv_;         \
    static constexpr auto gemm = s##gemm_;         \
    static constexpr auto omatcopy = s##omatcopy_; \
  };
BLAS_TABLE(s, float)
BLAS_TABLE(d, double)
