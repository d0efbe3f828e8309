// Elements whose exponents are spread too wide for an expansion, eight at a time. An element's exponent
// is split into a multiple of 16, which chooses a pair of doubles, and the rest, which stays with it;
// the number is cut into two halves, and one addition of two doubles adds both to the pair.
//
//   x = y * 2^(16 g - 1023), 1 <= |y| < 2^16        pair[g] += {y rounded to 2^-18, what is left}
//
// Both halves are integers of at most 34 bits in their units, so 2^19 of them add up exactly. Each lane
// has pairs of its own: additions to one of them would wait for each other.
#pragma once
#include "vector_words.h"

#define PAIRS 128                       // 2^11 exponents by 16
#define TABLE_ROOM ((1 << 19) / LANES)  // vectors before the pairs must be emptied
#define TABLE_WORTH 2048  // elements; below, clearing the pairs costs more than it saves

// Adds zeros and normal doubles.
DEVICE void table_add(double2 (*pair)[PAIRS], double8 x) {
  const ulong8 bits = as_ulong8(x);
  const ulong8 moved = (bits & 0x80ffffffffffffffUL) + ((ulong8)1023UL << 52);
  const double8 y = select(as_double8(moved), (double8)0.0, x == 0.0);
  const double8 anchor = 0x1.8p34;  // units of 2^-18
  const double8 high = (y + anchor) - anchor, low = y - high;
  double2 halves[LANES];
  ulong at[LANES];
  vstore16((double16)(high.s0, low.s0, high.s1, low.s1, high.s2, low.s2, high.s3, low.s3, high.s4,
                      low.s4, high.s5, low.s5, high.s6, low.s6, high.s7, low.s7),
           0, (double*)halves);
  vstore8((bits >> 56) & 0x7fUL, 0, at);
  for (int l = 0; l < LANES; ++l) pair[l][at[l]] += halves[l];
}

DEVICE void words_add_scaled(ulong* words, double x, int exponent) {
  int position;
  const ulong mantissa = mantissa_f64(as_ulong(x), &position);
  words_add(words, mantissa, position - 1074 + exponent - BASE, as_ulong(x) >> 63);
}

DEVICE void table_empty(double2 (*pair)[PAIRS], ulong* words) {
  for (int g = 0; g < PAIRS; ++g) {
    double2 sum = 0.0;
    for (int l = 0; l < LANES; ++l) {
      sum += pair[l][g];
      pair[l][g] = 0.0;
    }
    words_add_scaled(words, sum.x, 16 * g - 1023);
    words_add_scaled(words, sum.y, 16 * g - 1023);
  }
}

// Not zero, not normal.
DEVICE bool any_special(double8 x) {
  const ulong8 least = 0x0020000000000000UL, infinite = 0xffe0000000000000UL;
  const ulong8 twice = as_ulong8(x) << 1;
  return any(twice != 0UL && twice - least >= infinite - least);
}

// Adds `count` terms of neighbours; returns what else is to be said of them.
DEVICE uint words_add_row(ulong* words, GLOBAL const T* p, GLOBAL const T* q, long count,
                          bool magnitude) {
  double2 pair[LANES][PAIRS];
  for (int l = 0; l < LANES; ++l)
    for (int g = 0; g < PAIRS; ++g) pair[l][g] = 0.0;
  ulong8 other = 0UL;  // than -0
  uint saw = 0u;
  long i = 0;
  for (int room = TABLE_ROOM; i + LANES <= count; i += LANES) {
    prefetch_line(p + i + AHEAD);
    double8 x = convert_double8(vload8(0, p + i));
#if PRODUCTS
    const double8 y = convert_double8(vload8(0, q + i));
#else
    const double8 y = 1.0;
#endif
    if (any_special(x) || any_special(y)) {
      for (int l = 0; l < LANES; ++l) saw |= words_add_term(words, p[i + l], q[i + l], magnitude);
      continue;
    }
    if (magnitude) x = fabs(x);
    x *= y;
    other |= as_ulong8(x) ^ MINUS_ZERO;
    table_add(pair, x);
    if (--room == 0) {
      table_empty(pair, words);
      room = TABLE_ROOM;
    }
  }
  table_empty(pair, words);
  for (; i < count; ++i) saw |= words_add_term(words, p[i], q[i], magnitude);
  return any(other != 0UL) ? saw | SAW_OTHER_THAN_MINUS_ZERO : saw;
}
