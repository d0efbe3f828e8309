// Idea: 32 x 8 work-items compute a tile of 32 x 32, each four elements of a column.
// It beats `read_only` because a value of B read from local memory is used four times (5 reads for
// 4 multiply-adds, not 8), and four independent chains keep a work-item busy while one waits.
// Requires: 32 x 8 work-items a group.
//
//         x ->  32
//   y  |xxxxxxxx|     work-item (x, y) holds c(y, x), c(y + 8, x), c(y + 16, x) and c(y + 24, x) of
//   8  |--------|     the tile; a column of padding keeps turned stores free of bank conflicts
//      |xxxxxxxx|
#include "load_tile.h"
#include "problem.h"

#define TILE 32
#define PITCH (TILE + 1)
#define HEIGHT 8
#define OUTPUTS (TILE / HEIGHT)

__kernel __attribute__((reqd_work_group_size(TILE, HEIGHT, 1))) void ilp4(GEMM_ARGUMENTS) {
  __local T a_tile[TILE * PITCH];
  __local T b_tile[TILE * PITCH];
  const Tile tile = tile_of(get_group_id(0), tiles_m, tiles_n);
  const int x = get_local_id(0), y = get_local_id(1), t = y * TILE + x;
  const long i0 = (long)tile.row * TILE, j0 = (long)tile.col * TILE;
  __global const T* a_from = a + a_offset + tile.batch * a_batch + i0 * a_row;
  __global const T* b_from = b + b_offset + tile.batch * b_batch + j0 * b_col;
  const long depth = flags & MULTIPLY ? k : 0;
  T acc[OUTPUTS] = {0};
  for (long l0 = 0; l0 < depth; l0 += TILE) {
    load_tile(a_tile, TILE, TILE, PITCH, a_from + l0 * a_col, a_row, a_col, m - i0, k - l0, t,
              TILE * HEIGHT);
    load_tile(b_tile, TILE, TILE, PITCH, b_from + l0 * b_row, b_row, b_col, k - l0, n - j0, t,
              TILE * HEIGHT);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int l = 0; l < TILE; ++l) {
      const T right = b_tile[l * PITCH + x];
#pragma unroll
      for (int r = 0; r < OUTPUTS; ++r)
        acc[r] = multiply_add(a_tile[(y + r * HEIGHT) * PITCH + l], right, acc[r]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c += c_offset + tile.batch * c_batch + (i0 + y) * c_row + (j0 + x) * c_col;
#pragma unroll
  for (int r = 0; r < OUTPUTS; ++r)
    if (i0 + y + r * HEIGHT < m && j0 + x < n)
      finish(c + r * HEIGHT * c_row, acc[r], alpha, beta, flags);
}
