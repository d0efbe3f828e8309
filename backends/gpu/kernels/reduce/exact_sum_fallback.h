// The fallback of `exact`'s sums: a tile's work-items add what they hold, or their elements, in
// superaccumulators.
#pragma once
#include "exact_sum_words.h"

#if USES_BINS
// Adds what this work-item holds.
DEVICE void add_share_wide(const Expansion* sum, LOCAL_POINTER const double* bins, uint binned,
                           LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
  words_add_expansion(sum, low, high);
  for (int b = 0; binned && b < BINS; ++b) words_add_double(bins[b * THREADS], low, high);
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

// Adds this work-item's share of the elements once more.
DEVICE uint add_elements_wide(Tile t, Inputs in, LOCAL_POINTER uint* low,
                              LOCAL_POINTER uint* high) {
  uint flags = 0u;
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
          flags |= words_add_term(x[u], y[u], low, high);
#else
          flags |= words_add_term(!PRODUCTS && in.magnitude ? fabs(x[u]) : x[u], x[u], low, high);
#endif
    }
  }
  return flags;
}
#endif

// Adds what a group of an earlier phase stored, its words or its folds; returns its flags.
DEVICE uint add_partial_wide(GLOBAL const ulong* record, GLOBAL const ulong* words,
                             LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
  const uint flags = (uint)(record[FOLDS] >> 32);
  if (flags & FLAG_IN_WORDS) {
    for (int w = 0; w < WORDS; ++w) word_add(low + w * COPIES, high + w * COPIES, words[w]);
  } else {
    for (int k = 0; k < FOLDS; ++k) words_add_double(as_double(record[k]), low, high);
  }
  return flags;
}
