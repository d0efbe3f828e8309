// The shim's routines as a program declares them, by type and spelling.
#pragma once

#include <cstddef>
#include <cstdint>

/// The routines of a spelling of names.def: spelling, scipy_spelling, spelling64_ …
template <class T, class Spelling>
struct BlasOf;

#define BLAS_ROUTINES(prefix, suffix, Int, s, T)                                                 \
  extern "C" {                                                                                   \
  T prefix##s##dot_##suffix(const Int*, const T*, const Int*, const T*, const Int*);             \
  T prefix##s##asum_##suffix(const Int*, const T*, const Int*);                                  \
  T prefix##s##nrm2_##suffix(const Int*, const T*, const Int*);                                  \
  Int prefix##i##s##amax_##suffix(const Int*, const T*, const Int*);                             \
  void prefix##s##axpy_##suffix(const Int*, const T*, const T*, const Int*, T*, const Int*);     \
  void prefix##s##gemv_##suffix(const char*, const Int*, const Int*, const T*, const T*,         \
                                const Int*, const T*, const Int*, const T*, T*, const Int*);     \
  void prefix##s##gemm_##suffix(const char*, const char*, const Int*, const Int*, const Int*,    \
                                const T*, const T*, const Int*, const T*, const Int*, const T*,  \
                                T*, const Int*);                                                 \
  void prefix##s##omatcopy_##suffix(const char*, const char*, const Int*, const Int*, const T*,  \
                                    const T*, const Int*, T*, const Int*);                       \
  void prefix##cblas_##s##gemm##suffix(int, int, int, Int, Int, Int, T, const T*, Int, const T*, \
                                       Int, T, T*, Int);                                         \
  std::size_t prefix##cblas_i##s##amax##suffix(Int, const T*, Int);                              \
  }                                                                                              \
  template <>                                                                                    \
  struct BlasOf<T, prefix##spelling##suffix> {                                                   \
    static constexpr auto dot = prefix##s##dot_##suffix;                                         \
    static constexpr auto asum = prefix##s##asum_##suffix;                                       \
    static constexpr auto nrm2 = prefix##s##nrm2_##suffix;                                       \
    static constexpr auto iamax = prefix##i##s##amax_##suffix;                                   \
    static constexpr auto axpy = prefix##s##axpy_##suffix;                                       \
    static constexpr auto gemv = prefix##s##gemv_##suffix;                                       \
    static constexpr auto gemm = prefix##s##gemm_##suffix;                                       \
    static constexpr auto omatcopy = prefix##s##omatcopy_##suffix;                               \
    static constexpr auto cblas_gemm = prefix##cblas_##s##gemm##suffix;                          \
    static constexpr auto cblas_iamax = prefix##cblas_i##s##amax##suffix;                        \
  };

#define COMPUTED(name)
#define FORWARD(name)
#define SPELLING(prefix, suffix, Integer)          \
  struct prefix##spelling##suffix {                \
    using Int = Integer;                           \
  };                                               \
  BLAS_ROUTINES(prefix, suffix, Integer, s, float) \
  BLAS_ROUTINES(prefix, suffix, Integer, d, double)
#include "../../blas/names.def"
#undef SPELLING
#undef FORWARD
#undef COMPUTED

template <class T>
using Blas = BlasOf<T, spelling>;

extern "C" void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*,
                       const double*, const double*, const int*, double*, const int*);
