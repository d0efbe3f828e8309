// Idea: results that depend on the input alone: sums are exact and rounded once, integers wrap, minima
// and maxima follow a total order, and products of floats take one fixed tree. Any view, any axis.
// Why it beats the rung below: wide loads, many in flight; one launch, the last group finishes.
// Requires: f64 for sums of floats; NVIDIA for one launch (elsewhere a second launch finishes).
#include "tile.h"
#if T_double
#define T_DOUBLE 1
#else
#define T_DOUBLE 0
#endif
#if (KIND_SUM || KIND_SQUARES) && (T_float || T_double)
#include "exact_sum.h"
#endif
