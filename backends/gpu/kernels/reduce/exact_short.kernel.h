// Idea: many exact sums of a few floats each: a work-item adds whole lines, four lines of four, two
// of eight or one of sixteen, all loaded before the first is used. No line is shared, so there is
// nothing to hand over; what doesn't add up in a double goes into six of them, which hold any sum
// of sixteen floats. It beats `exact_lines` because of such lines that one's local memory and
// barriers take most of the time. Requires: f64; sums of f32, lines of at most LENGTH elements.
#define T float
typedef float4 Vector;
#define VECTOR 4
#define LINES (16 / LENGTH)
#define TERMS 6
#define CHUNK_BITS 0  // of tile.h's walks, of which there are none
#include "exact.h"
#include "tile.h"
#include "unpack.h"

// Adds x, exactly: sixteen floats make term k less than 2^(132 - 50k), so six leave less than
// 2^-149.
DEVICE void terms_add(double* terms, double x) {
#pragma unroll
  for (int k = 0; k < TERMS; ++k) terms[k] = two_sum(terms[k], x, &x);
}

// The terms' sum, rounded once: carried upwards until each is what is left of the sum of those
// above.
DEVICE double terms_round(double* terms, bool f64) {
  bool changed = true;
  while (changed) {
    changed = false;
#pragma unroll
    for (int k = TERMS - 2; k >= 0; --k) {
      double rest;
      const double sum = two_sum(terms[k], terms[k + 1], &rest);
      changed |= sum != terms[k];
      terms[k] = sum;
      terms[k + 1] = rest;
    }
  }
  const double high = terms[0], low = terms[1];
  ulong bits = as_ulong(high);
  if (low == 0.0) return high;
  if (!f64) {  // to odd first, so that rounding to f32 is the only one
    if (!(bits & 1UL)) bits += (low > 0.0) == (high > 0.0) ? 1UL : ~0UL;
    return as_double(bits);
  }
  double rest;  // half way: what lies below decides
  const double further = two_sum(high, 2.0 * low, &rest);
  return rest == 0.0 && terms[2] != 0.0 && (terms[2] > 0.0) == (low > 0.0) ? further : high;
}

// The sum of `x`, rounded to f32 or f64, in a double.
DEVICE double line_sum(const float* x, bool f64) {
  const FloatSum floats = sum_floats(x, LENGTH);
  // Where one is infinite or NaN, so is the sum.
  if (floats_are_near(&floats) || !floats_are_finite(&floats)) return floats.sum;
  double terms[TERMS] = {-0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
#pragma unroll
  for (int k = 0; k < LENGTH; ++k) terms_add(terms, x[k]);
  return terms_round(terms, f64);
}

KERNEL_BOUNDED(exact_short, THREADS, 1, 4)
(REDUCE_PARAMETERS) {
  const bool f64 = options & RESULT_F64;
  const long first = (long)group_x() * THREADS * LINES + local_x();
  input += input_offset;
  const bool in_vectors = col_stride == 1 && (ulong)input % sizeof(Vector) == 0 &&
                          cols % VECTOR == 0 && result_stride % VECTOR == 0;
  float x[LINES][LENGTH];
  await_earlier_launches();
  if (in_vectors) {
#pragma unroll
    for (int l = 0; l < LINES; ++l) {
      const long line = first + l * THREADS;
      GLOBAL const float* from = input + line * result_stride;
#pragma unroll
      for (int k = 0; k < LENGTH; k += VECTOR) {
        Vector v = make_float4(-0.0f, -0.0f, -0.0f, -0.0f);
        if (line < results && k < cols) v = *(GLOBAL const Vector*)(from + k);
        unpack(v, x[l] + k);
      }
    }
  } else {
#pragma unroll
    for (int l = 0; l < LINES; ++l) {
      const long line = first + l * THREADS;
      GLOBAL const float* from = input + line * result_stride;
#pragma unroll
      for (int k = 0; k < LENGTH; ++k) {
        x[l][k] = -0.0f;
        if (line < results && k < cols) x[l][k] = from[k * col_stride];
      }
    }
  }
#pragma unroll
  for (int l = 0; l < LINES; ++l) {
    const long line = first + l * THREADS;
    if (options & MAP_ABS) {
#pragma unroll
      for (int k = 0; k < LENGTH; ++k) x[l][k] = fabs(x[l][k]);
    }
    const double sum = line_sum(x[l], f64);
    const ulong bits = f64 ? as_ulong(sum) : as_uint((float)sum);
    if (line < results) store_sum(output + output_offset, line * output_stride, f64, bits);
  }
}
