// Idea: a work-item keeps a block of C in registers; panels of A and B stream through STAGES stages
// of local memory, copied in the background while earlier stages are used.
// It beats `shared` because a value read from local memory is used 8 or 16 times, 16 bytes a read,
// and no work-item waits for memory.
// Requires: nothing; without background copies (cp.async) the copies run between the barriers.
//
//   C tile SIZE x SIZE, SIZE work-items (SIZE 128: 16 x 8 elements each; SIZE 64: 8 x 8).
//   A warp is 4 x 8 work-items; each owns vectors of WIDTH rows, 4 WIDTH apart, and vectors of
//   WIDTH columns, 8 WIDTH apart: reads of a panel are 16 bytes side by side, or broadcasts.
#include "problem.h"

#define THREADS SIZE
#define DEPTH 8
#define STAGES 4
#if SIZE == 128
#define HEIGHT 16
#else
#define HEIGHT 8
#endif
#define BREADTH 8
#define WARPS_DOWN (SIZE / (4 * HEIGHT))
#include "panel.h"

DEVICE void read_panel(T* to, const LOCAL_POINTER T* from, const int count, const int apart) {
#pragma unroll
  for (int g = 0; g < count; g += WIDTH)
    unpack(*(const LOCAL_POINTER VECTOR*)(from + g * apart), to + g);
}

KERNEL_BOUNDED(register_tile, THREADS, 1, 256 / THREADS)(GEMM_ARGUMENTS) {
  LOCAL ALIGNED(16) T a_panel[STAGES * PANEL(SIZE)];
  LOCAL ALIGNED(16) T b_panel[STAGES * PANEL(SIZE)];
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const int t = local_x(), warp = t / 32;
  const long i0 = (long)tile.row * SIZE, j0 = (long)tile.col * SIZE;
  const int row = (warp % WARPS_DOWN * 4 * HEIGHT) + t % 32 / 8 * WIDTH;
  const int col = (warp / WARPS_DOWN * 8 * BREADTH) + t % 8 * WIDTH;
  Feed a_feed = feed_of(a + a_offset + tile.batch * a_batch, a_row, a_col, a_batch, i0, m, SIZE, t);
  Feed b_feed = feed_of(b + b_offset + tile.batch * b_batch, b_col, b_row, b_batch, j0, n, SIZE, t);
  const long depth = flags & MULTIPLY ? k : 0;

  T acc[HEIGHT][BREADTH];
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
    for (int j = 0; j < BREADTH; ++j) acc[i][j] = 0;

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
    const LOCAL_POINTER T* a_stage = a_panel + stage * PANEL(SIZE) + row;
    const LOCAL_POINTER T* b_stage = b_panel + stage * PANEL(SIZE) + col;
#pragma unroll
    for (int l = 0; l < DEPTH; ++l) {
      T x[HEIGHT], y[BREADTH];
      read_panel(x, a_stage + l * ROW(SIZE), HEIGHT, 4);
      read_panel(y, b_stage + l * ROW(SIZE), BREADTH, 8);
#pragma unroll
      for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
        for (int j = 0; j < BREADTH; ++j) acc[i][j] = multiply_add(x[i], y[j], acc[i][j]);
    }
    stage = stage == STAGES - 1 ? 0 : stage + 1;
  }

  c += c_offset + tile.batch * c_batch;
  const bool wide = is_wide(c, c_row, c_col);
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i) {
    const long row_of_c = i0 + row + i / WIDTH * 4 * WIDTH + i % WIDTH;
#pragma unroll
    for (int j = 0; j < BREADTH; j += WIDTH) {
      const long col_of_c = j0 + col + j * 8;
      if (row_of_c < m && col_of_c < n)
        finish_vector(c + row_of_c * c_row + col_of_c * c_col, c_col, acc[i] + j,
                      (int)min(n - col_of_c, (long)WIDTH), wide, alpha, beta, flags);
    }
  }
}
