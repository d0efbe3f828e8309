// One work-item's share of a segment: CHUNK elements, all loaded before the first is used. T,
// VECTOR (elements in 16 bytes), Vector and CHUNK_BITS are the including file's.
#pragma once
#define CHUNK (1 << CHUNK_BITS)
#include "tile.h"
#include "unpack.h"

// Elements between a boundary of 16 bytes and the rows' beginnings, the same in each row; -1: they
// can't be read 16 bytes at a time, which unit stride decides.
DEVICE int tile_skip(const Tile* t, GLOBAL const T* input) {
  if (t->step != 1 || t->col_stride != 1 || (t->rows > 1 && t->row_stride % VECTOR != 0)) return -1;
  return (int)((ulong)(input + tile_row(t, 0)) / sizeof(T) % VECTOR);
}

// Begins the rows `skip` elements earlier, which count for nothing; where skip is -1, leaves them.
DEVICE GLOBAL const T* tile_align(Tile* t, GLOBAL const T* input, int skip) {
  t->skip = skip > 0 ? skip : 0;
  t->cols += t->skip;
  return input - t->skip;
}

// The column of element k of a chunk, `skip` included.
DEVICE long chunk_column(const Tile* t, const Walk* w, bool aligned, int k) {
  const int in = aligned ? k % VECTOR : 0, vector = aligned ? VECTOR : 1;
  return ((((long)w->segment << CHUNK_BITS) + (k - in)) << t->col_bits) + t->lane_col * vector + in;
}

// Loads a chunk, `fill` outside of the row.
DEVICE void load_chunk(const Tile* t, const Walk* w, GLOBAL const T* input, bool aligned, T fill,
                       T* x) {
  GLOBAL const T* row = input + tile_row(t, w->row);
  const bool whole = (long)(w->segment + 1) << (t->col_bits + CHUNK_BITS) <= t->cols;
  if (aligned) {
    if (whole && (t->skip == 0 || w->segment > 0)) {
      GLOBAL const Vector* vectors = (GLOBAL const Vector*)(row + chunk_column(t, w, true, 0));
#pragma unroll
      for (int k = 0; k < CHUNK; k += VECTOR) unpack(vectors[k / VECTOR << t->col_bits], x + k);
      return;
    }
#pragma unroll
    for (int k = 0; k < CHUNK; k += VECTOR) {
      const long column = chunk_column(t, w, true, k);
#pragma unroll
      for (int u = 0; u < VECTOR; ++u) x[k + u] = fill;
      if (column >= t->skip && column + VECTOR <= t->cols) {
        unpack(*(GLOBAL const Vector*)(row + column), x + k);
      } else if (column < t->cols) {
#pragma unroll
        for (int u = 0; u < VECTOR; ++u)
          if (column + u >= t->skip && column + u < t->cols) x[k + u] = row[column + u];
      }
    }
  } else if (whole) {
    row += chunk_column(t, w, false, 0) * t->col_stride;
    const long step = t->col_stride << t->col_bits;
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
      x[k] = *row;
      row += step;
    }
  } else {
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
      const long column = chunk_column(t, w, false, k);
      x[k] = column < t->cols ? row[column * t->col_stride] : fill;
    }
  }
}
