// One work-item's share of a segment: CHUNK elements, all loaded before the first is used. T, VECTOR
// (elements in 16 bytes), Vector and CHUNK_BITS are the including file's.
#pragma once
#define CHUNK (1 << CHUNK_BITS)
#include "tile.h"

// Can whole segments be read 16 bytes at a time? Base, strides and lanes decide.
DEVICE bool tile_is_aligned(const Tile* t, GLOBAL const T* input) {
  return t->step == 1 && t->col_stride == 1 && (ulong)input % 16 == 0 &&
         (t->rows == 1 || t->row_stride % VECTOR == 0) &&
         (t->results == 1 || t->result_stride % VECTOR == 0);
}

// Loads a chunk, `fill` where the row has ended. Column of element k: tile_column(), except in
// vectors, where the order along the row is another.
DEVICE void load_chunk(const Tile* t, const Walk* w, GLOBAL const T* input, bool aligned, T fill,
                       T* x) {
  GLOBAL const T* row = input + tile_row(t, w->row);
  const int span_bits = t->col_bits + CHUNK_BITS;
  if (aligned && (w->segment + 1) << span_bits <= t->cols) {
    GLOBAL const Vector* vectors = (GLOBAL const Vector*)(row + (w->segment << span_bits));
#pragma unroll
    for (int k = 0; k < CHUNK; k += VECTOR) {
      const Vector v = vectors[(k / VECTOR << t->col_bits) + t->lane_col];
      x[k] = v.x;
      x[k + 1] = v.y;
#if VECTOR == 4
      x[k + 2] = v.z;
      x[k + 3] = v.w;
#endif
    }
  } else {
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
      const long column = tile_column(t, w, k);
      x[k] = column < t->cols ? row[column * t->col_stride] : fill;
    }
  }
}
