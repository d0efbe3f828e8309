// Idea: the f64 tensor cores, whose steps over k are the ascending chain of fused multiply-adds.
// It beats `register_tile` because one instruction does 1024 multiply-adds, at twice the rate.
// Requires: NVIDIA, compute capability 9.0, and a passed self-check of that order; local memory of
// STAGES x 2 panels, more than 48 KB.
//
//   C tile SIZE x SIZE, 2 SIZE work-items. A warp computes 32 rows x SIZE / 2 columns as 2 x
//   SIZE / 16 blocks of 16 x 8 (mma.h), from panels[l][SIZE + 4]: a half warp reads 4 steps x 4
//   lanes, and the padding of 4 puts those into 16 different pairs of banks.
#include "problem.h"

#define THREADS (2 * SIZE)
#define DEPTH 16
#define STAGES 4
#define ROW_BLOCKS 2
#define COL_BLOCKS (SIZE / 16)
#define WARPS_DOWN (SIZE / 32)
#include "panel.h"
#include "mma.h"

KERNEL_BOUNDED(tensor, THREADS, 1, 1)(GEMM_ARGUMENTS) {
  LOCAL_ARENA(arena, STAGES * 2 * PANEL(SIZE) * 8);
  LOCAL_POINTER T* const a_panel = (LOCAL_POINTER T*)arena;
  LOCAL_POINTER T* const b_panel = a_panel + STAGES * PANEL(SIZE);
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const int t = local_x(), warp = t / 32, group = t % 32 / 4, quarter = t % 4;
  const long i0 = (long)tile.row * SIZE, j0 = (long)tile.col * SIZE;
  const int row = warp % WARPS_DOWN * 32, col = warp / WARPS_DOWN * (SIZE / 2);
  Feed a_feed = feed_of(a + a_offset + tile.batch * a_batch, a_row, a_col, a_batch, i0, m, SIZE, t);
  Feed b_feed = feed_of(b + b_offset + tile.batch * b_batch, b_col, b_row, b_batch, j0, n, SIZE, t);
  const long depth = flags & MULTIPLY ? k : 0;

  T acc[ROW_BLOCKS][COL_BLOCKS][4];
#pragma unroll
  for (int i = 0; i < ROW_BLOCKS; ++i)
#pragma unroll
    for (int j = 0; j < COL_BLOCKS; ++j)
      acc[i][j][0] = acc[i][j][1] = acc[i][j][2] = acc[i][j][3] = 0;

  long copied = 0;
  for (int s = 0; s < STAGES - 1; ++s, copied += DEPTH) {
    if (copied < depth) {
      copy_panel(&a_feed, a_panel + s * PANEL(SIZE), depth - copied, SIZE, t);
      copy_panel(&b_feed, b_panel + s * PANEL(SIZE), depth - copied, SIZE, t);
    }
    commit_copies();
  }
  int stage = 0;
  for (long l0 = 0; l0 < depth; l0 += DEPTH) {
    await_copies(STAGES - 2);
    sync();
    const int next = stage == 0 ? STAGES - 1 : stage - 1;
    if (copied < depth) {
      copy_panel(&a_feed, a_panel + next * PANEL(SIZE), depth - copied, SIZE, t);
      copy_panel(&b_feed, b_panel + next * PANEL(SIZE), depth - copied, SIZE, t);
    }
    commit_copies();
    copied += DEPTH;
    const LOCAL_POINTER T* a_stage = a_panel + stage * PANEL(SIZE) + quarter * ROW(SIZE) + row + group;
    const LOCAL_POINTER T* b_stage = b_panel + stage * PANEL(SIZE) + quarter * ROW(SIZE) + col + group;
#pragma unroll
    for (int l = 0; l < DEPTH; l += 8) {
      T x[ROW_BLOCKS][4], y[COL_BLOCKS][2];
#pragma unroll
      for (int i = 0; i < ROW_BLOCKS; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          x[i][e] = a_stage[(l + e / 2 * 4) * ROW(SIZE) + i * 16 + e % 2 * 8];
#pragma unroll
      for (int j = 0; j < COL_BLOCKS; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) y[j][e] = b_stage[(l + e * 4) * ROW(SIZE) + j * 8];
#pragma unroll
      for (int i = 0; i < ROW_BLOCKS; ++i)
#pragma unroll
        for (int j = 0; j < COL_BLOCKS; ++j) multiply_add_16x8x8(acc[i][j], x[i], y[j]);
    }
    stage = stage == STAGES - 1 ? 0 : stage + 1;
  }

  c += c_offset + tile.batch * c_batch;
  const bool wide = is_wide(c, c_row, c_col);
#pragma unroll
  for (int i = 0; i < ROW_BLOCKS; ++i)
#pragma unroll
    for (int j = 0; j < COL_BLOCKS; ++j)
#pragma unroll
      for (int e = 0; e < 4; e += 2) {
        const long row_of_c = i0 + row + i * 16 + group + e * 4;
        const long col_of_c = j0 + col + j * 8 + quarter * 2;
        if (row_of_c < m && col_of_c < n)
          finish_vector(c + row_of_c * c_row + col_of_c * c_col, c_col, acc[i][j] + e,
                        (int)min(n - col_of_c, (long)WIDTH), wide, alpha, beta, flags);
      }
}
