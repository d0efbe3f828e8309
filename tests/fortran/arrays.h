/* The conformance cases for Fortran. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Unsigned elements, dot products that aren't of all elements, products that continue. */
enum { kNotInFortran = -1 };

/* Calls the module on the arrays that a trine_reduce, trine_transpose or trine_gemm has. */
int call_fortran(uint32_t operation, const void* descriptor);

#ifdef __cplusplus
}
#endif
