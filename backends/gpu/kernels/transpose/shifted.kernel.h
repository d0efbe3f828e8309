// Idea: a warp has 32 neighbours on both sides, and each row of a tile is shifted to the place
// where a sector of memory begins.
// It beats `vector` where rows don't start at multiples of 16 bytes (or of a sector): nothing but
// whole sectors is written, all loads of a work-item come before its first store, and an address
// costs one addition.
// Requires: both matrices row-major (or both column-major), 256 work-items a group. The default
// takes it if each side of the matrix has at least 48 elements, unless `thin` or `batched_small` is
// preferred. In names, in_row is the distance of the input's rows, out_col that of the output's.
//
// Row j of the output starts anywhere. Its part of the tile at row i0 lies up to SECTOR - 1
// elements earlier than the tile, so that it begins with a sector; the LEAD rows above the tile are
// read as well (by the tile above too: they are in the cache). The turned tile's pitch is odd: no
// bank conflicts either way.
#include "problem.h"

#define THREADS 256
#define SIDE (BYTES == 16 ? 32 : 64)
#define SECTOR (32 / BYTES)
#define STEP (THREADS / SIDE) /* rows of a tile that a group moves at once */
#define LEAD (SECTOR > STEP ? SECTOR : STEP)
#define LOADS ((SIDE + LEAD) / STEP)
#define PITCH ((SIDE + LEAD) | 1)

// The elements that a work-item moves: number `lane` of row `line` and of every STEP-th row after
// it, first of the input, then of the output.
typedef struct Place {
  long rows, cols, i0, j0;
  int lane, line;
} Place;

// `inside`: nothing of the tile lies outside of the matrix.
DEVICE void load_tile(const Place* at, const GLOBAL uchar* from, long in_row, bool inside,
                      LOCAL_POINTER Element* tile) {
  const long i0 = at->i0 - LEAD + at->line, j = at->j0 + at->lane;
  const bool whole = is_aligned(from, BYTES);
  const GLOBAL uchar* p = from + (i0 * in_row + j) * BYTES;
  Element e[LOADS];
#pragma unroll
  for (int s = 0; s < LOADS; ++s) {
    const long i = i0 + s * STEP;
    if (inside || (i >= 0 && i < at->rows && j < at->cols)) e[s] = load_element(p, whole);
    p += in_row * (BYTES * STEP);
  }
#pragma unroll
  for (int s = 0; s < LOADS; ++s) tile[at->lane * PITCH + at->line + s * STEP] = e[s];
}

DEVICE void store_tile(const Place* at, GLOBAL uchar* to, long out_col, bool inside,
                       const LOCAL_POINTER Element* tile) {
  const bool whole = is_aligned(to, BYTES);
  const long j0 = at->j0 + at->line;
  GLOBAL uchar* p = to + (at->i0 + j0 * out_col) * BYTES;
  const LOCAL_POINTER Element* row = tile + at->line * PITCH + LEAD + at->lane;
#pragma unroll 4
  for (int s = 0; s < SIDE / STEP; ++s) {
    const int shift = (int)((ulong)p / BYTES % SECTOR);
    const long i = at->i0 - shift + at->lane;
    if (inside || (i >= 0 && i < at->rows && j0 + s * STEP < at->cols))
      store_element(p + (at->lane - shift) * BYTES, row[-shift], whole);
    row += STEP * PITCH;
    p += out_col * (BYTES * STEP);
  }
}

KERNEL_BOUNDED(shifted, THREADS, 1, 4)(TRANSPOSE_ARGUMENTS) {
  LOCAL ALIGNED(16) Element tile[SIDE * PITCH];
  const Tile which = tile_of(group_x(), tiles_rows, tiles_cols);
  Place at;
  at.rows = rows;
  at.cols = cols;
  at.i0 = (long)which.row * SIDE;
  at.j0 = (long)which.col * SIDE;
  at.lane = local_x() % SIDE;
  at.line = local_x() / SIDE;
  const GLOBAL uchar* from = in + in_offset + which.batch * in_batch * BYTES;
  GLOBAL uchar* to = out + out_offset + which.batch * out_batch * BYTES;
  const bool inside = at.i0 >= LEAD && at.i0 + SIDE <= rows && at.j0 + SIDE <= cols;
  await_earlier_launches();
  load_tile(&at, from, in_row, inside, tile);
  sync();
  store_tile(&at, to, out_col, inside, tile);
}
