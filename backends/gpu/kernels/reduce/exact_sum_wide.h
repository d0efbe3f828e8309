// The fallback of an exact sum: what a tile's work-items hold, or their elements, in
// superaccumulators.
#pragma once
#include "exact_sum_words.h"

#if USES_BINS
// Adds what this work-item holds.
DEVICE void add_share_wide(const Expansion* sum, LOCAL_POINTER const double* bins, uint binned,
                           LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
  add_double_wide(sum->hi, low, high);
  add_double_wide(sum->mid, low, high);
  add_double_wide(sum->lo, low, high);
  for (int b = 0; binned && b < BINS; ++b) add_double_wide(bins[b * THREADS], low, high);
}
#else
DEVICE bool in_row(const Tile* t, long column) { return column >= t->skip && column < t->cols; }

// Loads four elements of a chunk from `k` on, -0 outside of the row.
DEVICE void load_four(const Tile* t, const Walk* w, GLOBAL const T* input, int k, T* x) {
  GLOBAL const T* row = input + tile_row(t, w->row);
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    const long column = chunk_column(t, w, false, k + u);
    x[u] = in_row(t, column) ? row[column * t->col_stride] : (T)-0.0;
  }
}

// The fallback's pass over this work-item's share of the elements.
DEVICE uint add_elements_wide(Tile t, Inputs in, LOCAL_POINTER uint* low,
                              LOCAL_POINTER uint* high) {
  uint saw = 0u;
  align_inputs(&t, &in);
  for (Walk w = walk_begin(&t); w.row < t.rows; walk_on(&w, &t)) {
    for (int k = 0; k < CHUNK; k += 4) {
      T x[4];
      load_four(&t, &w, in.x, k, x);
#if KIND_DOT
      T y[4];
      load_four(&in.y_tile, &w, in.y, k, y);
#endif
#pragma unroll
      for (int u = 0; u < 4; ++u)
        if (in_row(&t, chunk_column(&t, &w, false, k + u)))
#if KIND_DOT
          saw |= add_wide(x[u], y[u], low, high);
#elif PRODUCTS
          saw |= add_wide(x[u], x[u], low, high);
#else
          saw |= add_wide(x[u], in.magnitude, low, high);
#endif
    }
  }
  return saw;
}
#endif

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
