// How a BLAS says that an argument is wrong: through functions that a program may replace by its
// own.
#pragma once

#include <cstddef>

#define TRINE_BLAS_SHOWN __attribute__((visibility("default")))

extern "C" {
TRINE_BLAS_SHOWN void xerbla_(const char* routine, const int* info, std::size_t length);
TRINE_BLAS_SHOWN void cblas_xerbla(int info, const char* routine, const char* form, ...);
/// The reference's CBLAS has them for its xerbla_ and for programs that replace it: set while
/// xerbla_ runs on behalf of a CBLAS call, and of one in row-major order, where the operands'
/// places are swapped.
TRINE_BLAS_SHOWN extern int CBLAS_CallFromC, RowMajorStrg;
}

namespace trine::blas {

/// OpenBLAS's xerbla_ prints this, and returns.
void print_xerbla(const char* routine, const int* info, std::size_t length);
/// The reference's cblas_xerbla prints this; OpenBLAS has no such routine.
void print_parameter(int info, const char* routine, const char* form, ...);

}  // namespace trine::blas
