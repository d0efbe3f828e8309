// How the kernels of an exact product know that an element is rounded as the real number is, and
// mark it where they don't: a sum from rounding steps, a bound of what they lost, and one rounding
// of both ends of the interval between.
//
//   bounds: {norm, ratio} of each row of A and column of B. norm is at least its 2-norm, so that
//   |partial sums of c(i,j)| <= norm_i norm_j (Cauchy and Schwarz); ratio is at least the norm over
//   the power of two of which all its elements are multiples.
//   masks: for each of them, in 64 bits, which 64th parts of its steps (by a power of two) have an
//   element that isn't 0. Sparse factors have many sums of zeros alone, which no error bound shows.
//   marks: bit (s m + i) n + j is element (i, j) of matrix s. A marked element isn't stored.
#pragma once
#include "problem.h"
#include "reduce/exact.h"

#define BOUNDS_ARGUMENTS                                                                        \
  GLOBAL double *space, long a_bounds, long b_bounds, long a_bounds_batch, long b_bounds_batch, \
      long marks_at, long masks_at, double slack
#define BOUNDS_PASSED \
  space, a_bounds, b_bounds, a_bounds_batch, b_bounds_batch, marks_at, masks_at, slack

#define MOST_F64 0x1.fffffffffffffp1023
#if T_float
#define AS_BITS as_uint
#else
#define AS_BITS as_ulong
#endif

// The bounds of the rows and columns from element (i, j) of matrix `batch` on, and its bit.
typedef struct Bounds {
  const GLOBAL double *row, *col;
  const GLOBAL ulong *row_mask, *col_mask;
  GLOBAL uint* marks;
  long bit, width;
  double slack;
} Bounds;

DEVICE Bounds bounds_of(BOUNDS_ARGUMENTS, long m, long n, long batch, long i, long j) {
  Bounds b;
  b.row = space + a_bounds + batch * a_bounds_batch + 2 * i;
  b.col = space + b_bounds + batch * b_bounds_batch + 2 * j;
  const GLOBAL ulong* const masks = (const GLOBAL ulong*)(space + masks_at);
  b.row_mask = masks + (batch * a_bounds_batch / 2 + i);
  b.col_mask = masks + ((b_bounds - a_bounds + batch * b_bounds_batch) / 2 + j);
  b.marks = (GLOBAL uint*)(space + marks_at);
  b.bit = (batch * m + i) * n + j;
  b.width = n;
  b.slack = slack;
  return b;
}

DEVICE void mark(GLOBAL uint* marks, long bit) {
  atomic_or(marks + bit / 32, 1u << (uint)(bit % 32));
}

// RN(beta * old), or 0: the element if nothing is multiplied. An exact zero is +0.
DEVICE T scaled_alone(T beta, T old, int flags) {
  const T scaled = flags & ADD_C ? beta * old : (T)0;
  return scaled == (T)0 && old != (T)0 ? scaled : scaled + (T)0;
}

// Is the sum of element (u, v) from the bounds' first of zeros alone?
DEVICE bool is_of_zeros(const Bounds* b, int u, int v) {
  return (b->row_mask[u] & b->col_mask[v]) == 0UL;
}

#if T_float
// --- A chain of f64 over products of f32, which are exact ----------------------------------------
// It has lost at most k 2^-53 norm_i norm_j (`slack` norm_i norm_j), and nothing if all its sums
// are multiples of a unit and below 2^53 of them.
DEVICE double chain_error(const Bounds* b, int u, int v, double sum) {
  const GLOBAL double *row = b->row + 2 * u, *col = b->col + 2 * v;
  if (sum == 0.0 && is_of_zeros(b, u, v)) return 0.0;
  return row[1] * col[1] <= 0x1p53 ? 0.0 : b->slack * row[0] * col[0];
}

// Rounds alpha (acc ± error) + beta old; false where its ends don't round alike. A chain that isn't
// finite is right already: chains of finite f32 don't overflow.
DEVICE bool round_chain(double acc, double error, float alpha, float beta, float old, int flags,
                        float* result) {
  double sum = acc, rest = 0.0;
  if (alpha != 1.0f) {
    sum = two_product((double)alpha, acc, &rest);
    error *= fabs((double)alpha);
  }
  if (flags & ADD_C) {
    double lost;
    sum = two_sum(sum, (double)beta * (double)old, &lost);
    rest += lost;
  }
  sum += 0.0;
  const double width = error + fabs(rest);
  const double around = width == 0.0 ? 0.0 : fma(width, 0x1.000001p0, fabs(sum) * 0x1p-52);
  const float low = (float)(sum - around), high = (float)(sum + around);
  const bool finite = fabs(sum) <= MOST_F64;
  *result = finite ? low : (float)sum;
  return finite ? low == low && as_uint(low) == as_uint(high) : fabs(alpha) < 0x1p128f;
}
#endif

// --- A chain of pairs ----------------------------------------------------------------------------
// `hi` begins at 1.5 base, where base is a power of two above 4 norm_i norm_j. So it stays between
// base and 2 base, and each step adds a multiple of base 2^-52 without rounding; `lo` adds up what
// is left of the products, each at most base 2^-53, which a step returns.
#define PAIR_BEGIN 1.5

DEVICE double pair_add(double* hi, double* lo, double x, double y) {
  const double next = fma(x, y, *hi), rest = fma(x, y, *hi - next);
  *lo += rest;
  *hi = next;
  return rest;
}

// A power of two above twice the norm; NaN where that is not finite.
DEVICE double power_above(double norm) {
  if (!(norm <= 0x1p1000)) return norm - norm;
  return as_double((as_ulong(norm) & 0x7ff0000000000000UL) + (2UL << 52));
}

// The most that `lo` has lost: by k steps, and some more where chains were added up.
DEVICE double pair_loss(double base, long k) {
  const double steps = (double)k + 8.0;
  return base * (steps * steps * 0x1.00001p-105);
}

// The same, or 0 where nothing was lost.
DEVICE double pair_error(const GLOBAL double* row, const GLOBAL double* col, double base, long k) {
  return row[1] * col[1] * ((double)k + 8.0) <= 0x1p101 ? 0.0 : pair_loss(base, k);
}

// high + low as a double that rounds to T as the exact sum does: to nearest or, for f32, to odd.
DEVICE double rounded_pair(double high, double low) {
  double rest;
  const double sum = two_sum(high, low, &rest) + 0.0;
#if T_float
  const ulong bits = as_ulong(sum);
  if (rest != 0.0 && !(bits & 1UL))
    return as_double(bits + ((rest > 0.0) == (sum > 0.0) ? 1UL : ~0UL));
#endif
  return sum;
}

// May the error (two_product) of p be inexact, the product of x and of a number that isn't 0?
DEVICE bool may_underflow(double p, double x) { return fabs(p) < 0x1p-968 && x != 0.0; }

// Rounds alpha (hi + lo ± error) + beta old; false where its ends don't round alike, or something
// isn't finite.
DEVICE bool round_pair(double hi, double lo, double error, T alpha, T beta, T old, int flags,
                       T* result) {
  double low, lost = 0.0;
  double high = two_sum(hi, lo, &low);
  if (alpha != (T)1) {
    double high_rest, low_rest, rest;
    const double product = two_product((double)alpha, high, &high_rest);
    const double small = two_product((double)alpha, low, &low_rest);
    if (may_underflow(product, high) || may_underflow(small, low)) lost = 0x1p-1070;
    high = product;
    low = two_sum(high_rest, small, &rest);
    lost += fabs(low_rest) + fabs(rest);
    if (error != 0.0) error = fma(error, fabs((double)alpha), 0x1p-1070);
  }
  if (flags & ADD_C) {
    double old_rest, high_rest, rest;
    const double scaled = two_product((double)beta, (double)old, &old_rest);
    if (may_underflow(scaled, (double)old)) lost += 0x1p-1070;
    high = two_sum(high, scaled, &high_rest);
    low = two_sum(low, old_rest, &rest);
    lost += fabs(rest);
    low = two_sum(low, high_rest, &rest);
    lost += fabs(rest);
  }
  high = two_sum(high, low, &low);
  const double width = error + lost;
  const double around = width == 0.0 ? 0.0 : fma(width, 0x1.000001p0, fabs(low) * 0x1p-52);
  const double from = rounded_pair(high, low - around), to = rounded_pair(high, low + around);
  *result = (T)from;
  return fabs(from) <= MOST_F64 && fabs(to) <= MOST_F64 && AS_BITS((T)from) == AS_BITS((T)to);
}
