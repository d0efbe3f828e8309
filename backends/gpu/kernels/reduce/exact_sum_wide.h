// The wide road of an exact sum: every element goes into a superaccumulator in local memory, COPIES
// of them side by side, so that neighbouring work-items hit different banks and seldom each other.
#pragma once
#include "exact_terms.h"

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

// Loads four elements of a chunk from `k` on, -0 where the row has ended.
DEVICE void load_four(const Tile* t, const Walk* w, GLOBAL const T* input, int k, T* x) {
  GLOBAL const T* row = input + tile_row(t, w->row);
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    const long column = tile_column(t, w, k + u);
    x[u] = column < t->cols ? row[column * t->col_stride] : (T)-0.0;
  }
}

// The wide road's pass over this work-item's share of the elements.
DEVICE uint add_elements_wide(const Tile* t, const Inputs* in, LOCAL_POINTER uint* low,
                              LOCAL_POINTER uint* high) {
  uint saw = 0u;
  for (Walk w = walk_begin(t); w.row < t->rows; walk_on(&w, t)) {
    for (int k = 0; k < CHUNK; k += 4) {
      T x[4];
      load_four(t, &w, in->x, k, x);
#if KIND_DOT
      T y[4];
      load_four(&in->y_tile, &w, in->y, k, y);
#endif
#pragma unroll
      for (int u = 0; u < 4; ++u)
        if (tile_column(t, &w, k + u) < t->cols)
#if KIND_DOT
          saw |= add_wide(x[u], y[u], low, high);
#elif PRODUCTS
          saw |= add_wide(x[u], x[u], low, high);
#else
          saw |= add_wide(x[u], in->magnitude, low, high);
#endif
    }
  }
  return saw;
}

// Adds what a group of an earlier phase stored: its words, or its folds.
DEVICE uint add_partial_wide(GLOBAL const ulong* record, GLOBAL const ulong* words,
                             LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
  const uint saw = (uint)(record[FOLDS] >> 32);
  if (saw & SAW_WIDE) {
    for (int w = 0; w < WORDS; ++w) word_add(low + w * COPIES, high + w * COPIES, words[w]);
  } else {
    for (int k = 0; k < FOLDS; ++k) {
      int position;
      const ulong bits = record[k];
      const ulong mantissa = mantissa_f64(bits, &position);
      accumulator_add(low, high, COPIES, mantissa, position - 1074 - BASE, bits >> 63);
    }
  }
  return saw;
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

// The rounded sum of an accumulator whose totals stand in its first copy.
DEVICE ulong round_words(LOCAL_POINTER const uint* low, LOCAL_POINTER const uint* high, uint saw,
                         int precision, int lowest) {
  bool negative = false;
  Digits d;
  for (int pass = 0; pass < 2; ++pass) {
    d = digits_none();
    for (int w = 0; w < WORDS; ++w) {
      const ulong word = (ulong)high[w * COPIES] << 32 | low[w * COPIES];
      digits_read(&d, (long)(negative ? 0UL - word : word));
    }
    if (!digits_end(&d)) break;
    negative = true;
  }
  return settle(digits_round(&d, BASE, precision, lowest), negative, saw, precision, lowest);
}
