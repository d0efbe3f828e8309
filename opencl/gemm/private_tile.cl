// Idea: a work-item computes HEIGHT x COLS of C. It copies COLS columns of B, a few steps of k at a
// time, into a panel of its own, and takes ROWS rows of A through it, whose tile of C is in vector
// registers meanwhile. Between panels the chains wait in memory of the work-item.
// It beats `register_tile` on a CPU, where barriers turn local tiles into loops over memory.
// Requires: a CPU. No sister in CUDA, which has no CPUs.
#define Panel T
#include "private_block.h"

#ifdef __AVX512F__
#define VECTORS 4
#define SIDE (4 * WIDTH)  // lanes of a vector
#else
#define VECTORS 2
#define SIDE (2 * WIDTH)
#endif
#if SIDE == 16
#define WORDS_float float16
#define WORDS_int uint16
#elif SIDE == 8
#define WORDS_float float8
#define WORDS_int uint8
#define WORDS_double double8
#else
#define WORDS_double double4
#endif
#define Words PASTE(WORDS_, T)

#if PASTE(INTEGER_, T)
DEVICE Words multiply_add_words(T x, Words y, Words acc) { return x * y + acc; }
#else
DEVICE Words multiply_add_words(T x, Words y, Words acc) { return fma((Words)x, y, acc); }
#endif

// ROWS rows of A by VECTORS vectors of the panel: `steps` steps of the chains in `part`.
INLINED void multiply(const GLOBAL T* const* row, long a_col, T (*panel)[COLS], int steps,
                      T (*part)[COLS]) {
  Words acc[ROWS][VECTORS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i)
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) acc[i][v] = *(Words*)&part[i][v * SIDE];
  for (int l = 0; l < steps; ++l) {
    Words y[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) y[v] = *(Words*)&panel[l][v * SIDE];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      const T x = row[i][l * a_col];
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) acc[i][v] = multiply_add_words(x, y[v], acc[i][v]);
    }
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i)
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) *(Words*)&part[i][v * SIDE] = acc[i][v];
}

KERNEL_OF(private_tile, 1, 1)(GEMM_ARGUMENTS) {
  T panel[STEPS][COLS] ALIGNED(64), part[HEIGHT][COLS] ALIGNED(64);
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const long i0 = (long)tile.row * HEIGHT, j0 = (long)tile.col * COLS;
  const int rows = (int)min(m - i0, (long)HEIGHT), cols = (int)min(n - j0, (long)COLS);
  a += a_offset + tile.batch * a_batch + i0 * a_row;
  b += b_offset + tile.batch * b_batch + j0 * b_col;
  c += c_offset + tile.batch * c_batch + i0 * c_row + j0 * c_col;
  for (int i = 0; i < HEIGHT; ++i)
    for (int j = 0; j < COLS; ++j)
      part[i][j] = i < rows && j < cols ? begin(c + i * c_row + j * c_col, flags) : (T)0;
  for (long l = 0; flags & MULTIPLY && l < k; l += STEPS) {
    const int steps = (int)min(k - l, (long)STEPS);
    copy_columns(b + l * b_row, b_row, b_col, steps, cols, panel);
    for (int i = 0; i < rows; i += ROWS) {
      const GLOBAL T* row[ROWS];  // the last one again beyond the last one
      for (int r = 0; r < ROWS; ++r) row[r] = a + min(i + r, rows - 1) * a_row + l * a_col;
      for (int j = 0; j < cols; j += VECTORS * SIDE)
        multiply(row, a_col, (T(*)[COLS]) & panel[0][j], steps, (T(*)[COLS]) & part[i][j]);
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      finish(c + i * c_row + j * c_col, part[i][j], alpha, beta, flags);
}
