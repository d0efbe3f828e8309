// How eight vector lanes of one work-item lie over a reduction (tile.h has the words for the views).
// A group is one work-item; it takes `width` results of a tile in turn, and of each result (or, with
// `across`, of eight neighbouring results at once) the piece `split` of `splits`.
#pragma once
#define CHUNK_BITS 4  // of tile.h's walk, which is not taken here
#include "tile.h"

#define LANES 8
#define CHUNK 16  // vectors of a result taken before its neighbours' turn
typedef PASTE(T, 8) T8;

// The hardware's own prefetch stops at each page, so dense data is called for one page ahead. f32 2^26
// on 2 cores, of the read bandwidth: without 0.31, 1 KB ahead 0.60, 2 KB 0.55, 4 KB 0.60 at a higher
// rate; f64: 0.41, 0.58, 0.66, 0.70.
#define AHEAD (4096 / (long)sizeof(T))
#define LINE (64 / (int)sizeof(T))

// The lines of CHUNK vectors from p on, a page later.
DEVICE void prefetch_chunk(GLOBAL const T* p) {
  for (int i = 0; i < CHUNK * LANES; i += LINE) prefetch_line(p + i + AHEAD);
}

// Long runs are called for twice, the second time from the second cache: as in cpu/reduce/prefetch.hpp.
DEVICE void call_ahead(GLOBAL const T* p) {
  prefetch_far(p + (12 << 10) / (int)sizeof(T));
  prefetch_line(p + (2 << 10) / (int)sizeof(T));
}

// any() of 8 lanes: PoCL's is a branch for each pair of lanes, 40 instructions in a row.
DEVICE bool any_bit8(ulong8 x) {
  const ulong4 four = x.lo | x.hi;
  const ulong2 two = four.lo | four.hi;
  return (two.x | two.y) != 0UL;
}

// Eight elements `stride` apart.
DEVICE T8 load_lanes(GLOBAL const T* p, long stride) {
  if (stride == 1) return vload8(0, p);
  return (T8)(p[0], p[stride], p[2 * stride], p[3 * stride], p[4 * stride], p[5 * stride],
              p[6 * stride], p[7 * stride]);
}

// The same for a row's or a result list's end.
DEVICE T8 load_some_lanes(GLOBAL const T* p, long stride, long count, T fill) {
  T x[LANES];
  for (int l = 0; l < LANES; ++l) x[l] = l < count ? p[l * stride] : fill;
  return vload8(0, x);
}

// The piece of `count` things that group `split` takes: whole blocks of `block`.
typedef struct Piece {
  long from, to;
} Piece;

DEVICE Piece piece_of(long count, long block, int split, int splits) {
  const long blocks = (count + block - 1) / block, each = (blocks + splits - 1) / splits;
  Piece p;
  p.from = split * each * block < count ? split * each * block : count;
  p.to = (split + 1) * each * block < count ? (split + 1) * each * block : count;
  return p;
}

#define ACROSS_VECTORS 8  // of results that are open at the same time

// What a work-item is at, and where its results go.
typedef struct Job {
  GLOBAL const T* input;
  Tile tile;
  GLOBAL const T* second;  // what each element is multiplied by in a sum of products
  Tile second_tile;
  Piece rows, cols;
  long row_index, col_index;
  int options;
  GLOBAL uchar* output;
  long output_stride;
  GLOBAL ulong* records;
} Job;

DEVICE GLOBAL const T* element_of_tile(GLOBAL const T* input, const Tile* t, long result, long row,
                                       long column) {
  return input + result * t->result_stride + row * t->row_stride + column * t->col_stride;
}
DEVICE GLOBAL const T* job_element(const Job* j, long result, long row, long column) {
  return element_of_tile(j->input, &j->tile, result, row, column);
}
DEVICE GLOBAL const T* job_second(const Job* j, long result, long row, long column) {
  return element_of_tile(j->second, &j->second_tile, result, row, column);
}

// The record of a piece of one result, `words` long.
DEVICE GLOBAL ulong* job_record(const Job* j, long result, int split, int words) {
  return j->records + (result * j->tile.splits + split) * words;
}
