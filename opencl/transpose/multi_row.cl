// Idea: a work-item moves STEPS elements of a padded tile, HEIGHT rows apart.
// It beats `shared_padded` because its STEPS loads are in flight at once, and one index computation
// and one barrier serve them all.
// Requires: 32 x 8 work-items a group.
//
//         x ->  32
//   y  |xxxxxxxx|     work-item (x, y) has the rows y, y + 8, y + 16 and y + 24 of the tile, first of
//   8  |--------|     the input's, then of the output's
//      |xxxxxxxx|
#include "problem.h"

#define SIDE 32
#define HEIGHT 8
#define STEPS (SIDE / HEIGHT)

KERNEL_OF(multi_row, SIDE, HEIGHT)(TRANSPOSE_ARGUMENTS) {
  LOCAL Element tile_of_group[SIDE][SIDE + 1];
  const Tile tile = tile_of(group_x(), tiles_rows, tiles_cols);
  const int x = local_x(), y = local_y();
  const long i0 = (long)tile.row * SIDE, j0 = (long)tile.col * SIDE;
  const GLOBAL uchar* from = in + in_offset;
  GLOBAL uchar* to = out + out_offset;
  const bool whole = is_aligned(from, BYTES), to_whole = is_aligned(to, BYTES);
  from += (tile.batch * in_batch + (i0 + y) * in_row + (j0 + x) * in_col) * BYTES;
  to += (tile.batch * out_batch + (i0 + x) * out_row + (j0 + y) * out_col) * BYTES;
#pragma unroll
  for (int s = 0; s < STEPS; ++s)
    if (i0 + y + s * HEIGHT < rows && j0 + x < cols)
      tile_of_group[y + s * HEIGHT][x] = load_element(from + s * HEIGHT * in_row * BYTES, whole);
  sync();
#pragma unroll
  for (int s = 0; s < STEPS; ++s)
    if (i0 + x < rows && j0 + y + s * HEIGHT < cols)
      store_element(to + s * HEIGHT * out_col * BYTES, tile_of_group[x][y + s * HEIGHT], to_whole);
}
