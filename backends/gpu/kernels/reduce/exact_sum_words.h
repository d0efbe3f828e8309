// Superaccumulators in local memory: COPIES side by side, so that neighbouring work-items hit
// different banks and seldom each other.
#pragma once
#include "exact_terms.h"

#define COPIES (WORDS > 128 ? 16 : 32)  // within the 32 KB of local memory that OpenCL promises

// Adds one term to a superaccumulator; returns what else is to be said of it.
#if PRODUCTS
DEVICE uint add_wide(T x, T y, LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
  const Product p = product_of(x, y);
  accumulator_add(low, high, COPIES, p.low, p.position, p.negative);
  if (T_DOUBLE) accumulator_add(low, high, COPIES, p.high, p.position + 64, p.negative);
  return p.saw;
}
#else
DEVICE uint add_wide(T x, bool magnitude, LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
  int position;
#if T_float
  const uint bits = magnitude ? as_uint(x) & 0x7fffffffu : as_uint(x);
  const bool negative = bits >> 31, finite = (bits & 0x7fffffffu) < 0x7f800000u;
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const ulong mantissa = mantissa_f32(bits, &position);
  if (bits == 0x80000000u) return 0u;
#else
  const ulong bits = magnitude ? as_ulong(x) & 0x7fffffffffffffffUL : as_ulong(x);
  const bool negative = bits >> 63, finite = (bits << 1) < 0xffe0000000000000UL;
  const bool nan = (bits << 1) > 0xffe0000000000000UL;
  const ulong mantissa = mantissa_f64(bits, &position);
  if (bits == 0x8000000000000000UL) return 0u;
#endif
  if (nan) return SAW_OTHER_THAN_MINUS_ZERO | SAW_NAN;
  if (!finite)
    return SAW_OTHER_THAN_MINUS_ZERO | (negative ? SAW_MINUS_INFINITY : SAW_PLUS_INFINITY);
  accumulator_add(low, high, COPIES, mantissa, position, negative);
  return SAW_OTHER_THAN_MINUS_ZERO;
}
#endif

// Adds a double that is a multiple of the format's last bit.
DEVICE void add_double_wide(double x, LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
  int position;
  const ulong mantissa = mantissa_f64(as_ulong(x), &position);
  accumulator_add(low, high, COPIES, mantissa, position - 1074 - BASE, as_ulong(x) >> 63);
}

// Word `w` of the accumulator whose first copy is at low, high: the sum over its copies.
DEVICE ulong word_total(LOCAL_POINTER const uint* low, LOCAL_POINTER const uint* high, int w,
                        int copies) {
  ulong total = 0UL;
  for (int c = 0; c < copies; ++c) {
    const int at = w * COPIES + (c + w) % copies;  // starting elsewhere: no bank conflicts
    total += (ulong)high[at] << 32 | low[at];
  }
  return total;
}

// The same where only the first copy counts.
DEVICE long word_at(LOCAL_POINTER const uint* low, LOCAL_POINTER const uint* high, int w) {
  return (long)((ulong)high[w * COPIES] << 32 | low[w * COPIES]);
}

// The rounded sum of an accumulator whose totals stand in its first copy.
DEVICE ulong round_words(LOCAL_POINTER const uint* low, LOCAL_POINTER const uint* high, uint saw,
                         int precision, int lowest) {
  bool negative = false;
  Digits d;
  for (int pass = 0; pass < 2; ++pass) {
    d = digits_none();
    for (int w = 0; w < WORDS; ++w) {
      const long word = word_at(low, high, w);
      digits_read(&d, negative ? -word : word);
    }
    if (!digits_end(&d)) break;
    negative = true;
  }
  return settle(digits_round(&d, BASE, precision, lowest), negative, saw, precision, lowest);
}
