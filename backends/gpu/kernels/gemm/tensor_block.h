// The block of C that a warp holds in the fragments of tensor cores (mma.h): 16 DOWN_BLOCKS x
// 8 ACROSS_BLOCKS elements, from panels that keep the order in memory (tensor_panel.h). LAYOUT says
// it: n has unit stride along the rows, t along the columns. Included after problem.h.
#define THREADS COPIERS
#include "copy.h"
#include "mma.h"
#include "tensor_panel.h"

// One operand on its way: `lanes` of its rows (of B: columns) lie inside the matrix.
typedef struct Feed {
  Source source;
  long stage_stride;
  int lanes;
} Feed;

// `size` lanes by DEPTH steps of k, a row of the panel a lane (by_lanes) or a step of k.
DEVICE Feed feed_of(const GLOBAL T* x, long lane_stride, long k_stride, long lanes, const int size,
                    const bool by_lanes, int u) {
  Feed f;
  f.source = by_lanes ? source_of(x, lane_stride, k_stride, 0, 0, 0, DEPTH, u)
                      : source_of(x, k_stride, lane_stride, 0, 0, 0, size, u);
  f.stage_stride = DEPTH * k_stride;
  f.lanes = lanes < size ? (int)lanes : size;
  return f;
}
DEVICE void copy_stage(Feed* f, LOCAL_POINTER T* panel, long left, const int size,
                       const bool by_lanes, int u) {
  const int steps = left < DEPTH ? (int)left : DEPTH;
  if (by_lanes)
    copy_source(&f->source, panel, size, DEPTH, f->lanes, steps, u);
  else
    copy_source(&f->source, panel, DEPTH, size, steps, f->lanes, u);
  f->source.from += f->stage_stride;
}

#if LAYOUT_nn
enum { A_BY_LANES = 1, B_BY_LANES = 0 };
#elif LAYOUT_nt
enum { A_BY_LANES = 1, B_BY_LANES = 1 };
#elif LAYOUT_tn
enum { A_BY_LANES = 0, B_BY_LANES = 0 };
#else
enum { A_BY_LANES = 0, B_BY_LANES = 1 };
#endif
static_assert(CAN_COPY(TILE_M, DEPTH) && CAN_COPY(DEPTH, TILE_M));
static_assert(CAN_COPY(TILE_N, DEPTH) && CAN_COPY(DEPTH, TILE_N));
#define PANEL(size, by_lanes) ((by_lanes) ? (size)*PITCH(DEPTH) : DEPTH * PITCH(size))
#define PANEL_A PANEL(TILE_M, A_BY_LANES)
#define PANEL_B PANEL(TILE_N, B_BY_LANES)
#define FEED_A(x, lanes, u) feed_of(x, a_row, a_col, lanes, TILE_M, A_BY_LANES, u)
#define FEED_B(x, lanes, u) feed_of(x, b_col, b_row, lanes, TILE_N, B_BY_LANES, u)
#define COPY_A(feed, panel, left, u) copy_stage(feed, panel, left, TILE_M, A_BY_LANES, u)
#define COPY_B(feed, panel, left, u) copy_stage(feed, panel, left, TILE_N, B_BY_LANES, u)

#define BLOCK_M (16 * DOWN_BLOCKS)
#define BLOCK_N (8 * ACROSS_BLOCKS)
#ifndef STEP
#define STEP 8
#endif
#define ACC_ROWS DOWN_BLOCKS
#define ACC_COLS (4 * ACROSS_BLOCKS)
#define X_COUNT (STEP / 2 * DOWN_BLOCKS)
#define Y_COUNT (STEP / 4 * ACROSS_BLOCKS)
#define A_STEP (A_BY_LANES ? 1 : PITCH(TILE_M))
#define B_STEP (B_BY_LANES ? 1 : PITCH(TILE_N))
#define A_LANE (A_BY_LANES ? PITCH(DEPTH) : 1)
#define B_LANE (B_BY_LANES ? PITCH(DEPTH) : 1)
#define FIRST_OF_A(row, lane) ((lane) % 4 * A_STEP + ((row) + (lane) / 4) * A_LANE)
#define FIRST_OF_B(col, lane) ((lane) % 4 * B_STEP + ((col) + (lane) / 4) * B_LANE)

DEVICE void read_fragments(T* x, T* y, const LOCAL_POINTER T* a, const LOCAL_POINTER T* b) {
#pragma unroll
  for (int e = 0; e < X_COUNT; ++e)
    x[e] = a[e % (STEP / 2) / 2 * 4 * A_STEP + (e / (STEP / 2) * 16 + e % 2 * 8) * A_LANE];
#pragma unroll
  for (int e = 0; e < Y_COUNT; ++e)
    y[e] = b[e % (STEP / 4) * 4 * B_STEP + e / (STEP / 4) * 8 * B_LANE];
}

DEVICE void multiply_fragments(T acc[ACC_ROWS][ACC_COLS], const T* x, const T* y) {
#pragma unroll
  for (int i = 0; i < DOWN_BLOCKS; ++i)
#pragma unroll
    for (int s = 0; s < ACROSS_BLOCKS; ++s) {
      const int j = i % 2 ? ACROSS_BLOCKS - 1 - s : s;
      if (STEP == 16)
        multiply_add_16x8x16(acc[i] + 4 * j, x + 8 * i, y + 4 * j);
      else
        multiply_add_16x8x8(acc[i] + 4 * j, x + 4 * i, y + 2 * j);
    }
}

// Chains that begin at C: the block's rows `first_row` … `end_row` - 1 and its columns alike, as far as it
// has them; `c` is the place of its first element. The others are another tile's, which may have stored
// them already.
DEVICE void begin_block(const GLOBAL T* c, long c_row, long first_row, long end_row, long first_col,
                        long end_col, T acc[ACC_ROWS][ACC_COLS], int lane) {
  const int row = lane / 4, col = lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < DOWN_BLOCKS; ++i)
#pragma unroll
    for (int e = 0; e < ACC_COLS; ++e) {
      const int u = row + i * 16 + e % 4 / 2 * 8, v = col + e / 4 * 8 + e % 2;
      if (u >= first_row && u < end_row && v >= first_col && v < end_col)
        acc[i][e] = c[u * c_row + v];
    }
}

// Stores the block; the bounds are begin_block's.
DEVICE void store_block(GLOBAL T* c, long c_row, long first_row, long end_row, long first_col,
                        long end_col, T acc[ACC_ROWS][ACC_COLS], LOCAL_POINTER T* lines, int lane,
                        T alpha, T beta, int flags) {
  const int row = lane / 4, col = lane % 4 * 2;
  const bool wide = is_wide(c, c_row, 1);
  c += row * c_row + col;
#pragma unroll
  for (int i = 0; i < DOWN_BLOCKS; ++i)
#pragma unroll
    for (int e = 0; e < 4; e += 2)
#pragma unroll
      for (int j = 0; j < ACROSS_BLOCKS; ++j) {
        const int u = i * 16 + e * 4, v = j * 8;
        GLOBAL T* const to = c + u * c_row + v;
        if (row + u < first_row || row + u >= end_row) continue;
        const bool first = col + v >= first_col && col + v < end_col;
        const bool second = col + v + 1 >= first_col && col + v + 1 < end_col;
        if (wide && first && second) {
          finish_vector(to, acc[i] + 4 * j + e, alpha, beta, flags);
        } else {
          if (first) finish(to, acc[i][4 * j + e], alpha, beta, flags);
          if (second) finish(to + 1, acc[i][4 * j + e + 1], alpha, beta, flags);
        }
      }
}
