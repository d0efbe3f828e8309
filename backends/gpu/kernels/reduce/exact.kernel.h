// Idea: results that depend on the input alone: sums are exact and rounded once, integers wrap,
// minima and maxima follow a total order, and products of floats take one fixed tree. Any view, any
// axis. It stands above `vector_loads` because any function, view and axis gets the same bits
// everywhere, at nearly its speed: a chunk is loaded before its first element is used, and one
// launch is enough, because its last group finishes. Requires: f64 for sums of floats; NVIDIA for
// one launch (elsewhere a second launch finishes).
#if T_float
typedef float4 Vector;
#elif T_double
typedef double2 Vector;
#elif T_uint
typedef uint4 Vector;
#else
typedef ulong2 Vector;
#endif
#if T_float || T_uint
#define VECTOR 4
#define CHUNK_BITS 4
#else
#define VECTOR 2
#define CHUNK_BITS 3
#endif
// Groups of 256 work-items on a multiprocessor, with 80 registers each: only squares and dot
// products spill.
#define GROUPS 3
#include "chunk.h"
#include "shuffle.h"

#if (KIND_SUM || KIND_SQUARES || KIND_DOT) && (T_float || T_double)
#include "exact_sum.h"
#elif KIND_PROD && (T_float || T_double)
#include "exact_product.h"
#else
#include "exact_fold.h"
#endif
