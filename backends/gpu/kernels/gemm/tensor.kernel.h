// Idea: the f64 tensor cores, whose steps over k are the ascending chain of fused multiply-adds.
// It beats `register_tile` because one instruction does 1024 multiply-adds, at twice the rate.
// Requires: NVIDIA, compute capability 9.0, and a passed self-check of that order; local memory of
// STAGES x 2 panels, more than 48 KB.
//
//   C tile SIZE x SIZE, 2 SIZE work-items. A warp computes 32 rows x SIZE / 2 columns as 2 x
//   SIZE / 16 blocks of 16 x 8 (mma.h). LAYOUT says how A and B lie: n has unit stride along the
//   rows, t along the columns; the panels keep that order (tensor_panel.h).
#include "problem.h"

#define THREADS (2 * SIZE)
#define DEPTH 16
#define STAGES 4
#define ROW_BLOCKS 2
#define COL_BLOCKS (SIZE / 16)
#define WARPS_DOWN (SIZE / 32)
#define ODD_ROWS 0
#include "copy.h"
#include "mma.h"
#include "tensor_panel.h"
static_assert(CAN_COPY(SIZE, DEPTH) && CAN_COPY(DEPTH, SIZE));

#if LAYOUT_nn || LAYOUT_nt
#define A_STEP 1
#define A_LANE PITCH(DEPTH)
#define COPY_A(to, left) copy_source(&a_source, to, SIZE, DEPTH, rows, left, t)
#else
#define A_STEP PITCH(SIZE)
#define A_LANE 1
#define COPY_A(to, left) copy_source(&a_source, to, DEPTH, SIZE, left, rows, t)
#endif
#if LAYOUT_nt || LAYOUT_tt
#define B_STEP 1
#define B_LANE PITCH(DEPTH)
#define COPY_B(to, left) copy_source(&b_source, to, SIZE, DEPTH, cols, left, t)
#else
#define B_STEP PITCH(SIZE)
#define B_LANE 1
#define COPY_B(to, left) copy_source(&b_source, to, DEPTH, SIZE, left, cols, t)
#endif
#define PANEL (SIZE * PITCH(DEPTH)) /* DEPTH * PITCH(SIZE) is less */

KERNEL_BOUNDED(tensor, THREADS, 1, 1)(GEMM_ARGUMENTS) {
  LOCAL_ARENA(arena, STAGES * 2 * PANEL * 8);
  LOCAL_POINTER T* const a_panel = (LOCAL_POINTER T*)arena;
  LOCAL_POINTER T* const b_panel = a_panel + STAGES * PANEL;
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const int t = local_x(), warp = t / 32, group = t % 32 / 4, quarter = t % 4;
  const long i0 = (long)tile.row * SIZE, j0 = (long)tile.col * SIZE;
  const int row = warp % WARPS_DOWN * 32, col = warp / WARPS_DOWN * (SIZE / 2);
  const int rows = m - i0 < SIZE ? (int)(m - i0) : SIZE,
            cols = n - j0 < SIZE ? (int)(n - j0) : SIZE;
  a += a_offset + tile.batch * a_batch;
  b += b_offset + tile.batch * b_batch;
#if LAYOUT_nn || LAYOUT_nt
  Source a_source = source_of(a, a_row, a_col, a_batch, i0, 0, DEPTH, t);
#else
  Source a_source = source_of(a, a_col, a_row, a_batch, 0, i0, SIZE, t);
#endif
#if LAYOUT_nt || LAYOUT_tt
  Source b_source = source_of(b, b_col, b_row, b_batch, j0, 0, DEPTH, t);
#else
  Source b_source = source_of(b, b_row, b_col, b_batch, 0, j0, SIZE, t);
#endif
  long left = flags & MULTIPLY ? k : 0;  // of k, to be copied

  T acc[ROW_BLOCKS][COL_BLOCKS][4];
#pragma unroll
  for (int i = 0; i < ROW_BLOCKS; ++i)
#pragma unroll
    for (int j = 0; j < COL_BLOCKS; ++j)
      acc[i][j][0] = acc[i][j][1] = acc[i][j][2] = acc[i][j][3] = 0;

  await_earlier_launches();
  const long tiles = (left + DEPTH - 1) / DEPTH;
  for (int s = 0; s < STAGES - 1; ++s, left -= DEPTH) {
    if (left > 0) {
      COPY_A(a_panel + s * PANEL, left < DEPTH ? (int)left : DEPTH);
      COPY_B(b_panel + s * PANEL, left < DEPTH ? (int)left : DEPTH);
      a_source.from += DEPTH * a_col;
      b_source.from += DEPTH * b_row;
    }
    commit_copies();
  }
  int stage = 0;
  for (long s = 0; s < tiles; ++s, left -= DEPTH) {
    await_copies(STAGES - 2);
    sync();
    const int next = stage == 0 ? STAGES - 1 : stage - 1;
    const int steps = left < DEPTH ? (int)left : DEPTH;
    const LOCAL_POINTER T* a_stage =
        a_panel + stage * PANEL + quarter * A_STEP + (row + group) * A_LANE;
    const LOCAL_POINTER T* b_stage =
        b_panel + stage * PANEL + quarter * B_STEP + (col + group) * B_LANE;
#pragma unroll
    for (int l = 0; l < DEPTH; l += 8) {
      T x[ROW_BLOCKS][4], y[COL_BLOCKS][2];
#pragma unroll
      for (int i = 0; i < ROW_BLOCKS; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          x[i][e] = a_stage[(l + e / 2 * 4) * A_STEP + (i * 16 + e % 2 * 8) * A_LANE];
#pragma unroll
      for (int j = 0; j < COL_BLOCKS; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) y[j][e] = b_stage[(l + e * 4) * B_STEP + j * 8 * B_LANE];
      // The two copies stand apart, so that neither fills the queue of memory instructions.
      if (l == 0 && left > 0) COPY_A(a_panel + next * PANEL, steps);
      if (l == 8 && left > 0) COPY_B(b_panel + next * PANEL, steps);
#pragma unroll
      for (int i = 0; i < ROW_BLOCKS; ++i)
#pragma unroll
        for (int j = 0; j < COL_BLOCKS; ++j) multiply_add_16x8x8(acc[i][j], x[i], y[j]);
    }
    commit_copies();
    a_source.from += DEPTH * a_col;
    b_source.from += DEPTH * b_row;
    stage = stage == STAGES - 1 ? 0 : stage + 1;
  }

  c += c_offset + tile.batch * c_batch + (i0 + row + group) * c_row +
       (j0 + col + quarter * 2) * c_col;
  const bool wide = is_wide(c, c_row, c_col);
#pragma unroll
  for (int i = 0; i < ROW_BLOCKS; ++i)
#pragma unroll
    for (int e = 0; e < 4; e += 2)
#pragma unroll
      for (int j = 0; j < COL_BLOCKS; ++j) {
        const int u = i * 16 + e * 4, v = j * 8, right = cols - col - quarter * 2 - v;
        GLOBAL T* to = c + u * c_row + v * c_col;
        if (row + group + u >= rows || right <= 0) continue;
        if (wide && right > 1) {
          finish_vector(to, acc[i][j] + e, alpha, beta, flags);
        } else {
          finish(to, acc[i][j][e], alpha, beta, flags);
          if (right > 1) finish(to + c_col, acc[i][j][e + 1], alpha, beta, flags);
        }
      }
}
