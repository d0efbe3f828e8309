// Idea: a work-item moves STEPS elements of a padded tile, HEIGHT rows apart.
// It beats `shared_padded` because its STEPS loads are in flight at once, and one index computation
// and one barrier serve them all.
// Requires: 32 x 8 work-items a group.
//
//         x ->  32
//   y  |xxxxxxxx|     work-item (x, y) has rows y, y + 8, y + 16 and y + 24 of the tile, first of
//   8  |--------|     the input's, then of the output's
//      |xxxxxxxx|
#include "problem.h"

#define SIDE 32
#define HEIGHT 8
#define STEPS (SIDE / HEIGHT)

__kernel __attribute__((reqd_work_group_size(SIDE, HEIGHT, 1))) void multi_row(
    TRANSPOSE_ARGUMENTS) {
  __local Element turned[SIDE][SIDE + 1];
  const Tile tile = tile_of(get_group_id(0), tiles_rows, tiles_cols);
  const int x = get_local_id(0), y = get_local_id(1);
  const long i0 = (long)tile.row * SIDE, j0 = (long)tile.col * SIDE;
  __global const uchar* from = in + in_offset;
  __global uchar* to = out + out_offset;
  const bool whole = is_aligned(from, BYTES), to_whole = is_aligned(to, BYTES);
  from += (tile.batch * in_batch + (i0 + y) * in_row + (j0 + x) * in_col) * BYTES;
  to += (tile.batch * out_batch + (i0 + x) * out_row + (j0 + y) * out_col) * BYTES;
#pragma unroll
  for (int s = 0; s < STEPS; ++s)
    if (i0 + y + s * HEIGHT < rows && j0 + x < cols)
      turned[y + s * HEIGHT][x] = load_element(from + s * HEIGHT * in_row * BYTES, whole);
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int s = 0; s < STEPS; ++s)
    if (i0 + x < rows && j0 + y + s * HEIGHT < cols)
      store_element(to + s * HEIGHT * out_col * BYTES, turned[x][y + s * HEIGHT], to_whole);
}
