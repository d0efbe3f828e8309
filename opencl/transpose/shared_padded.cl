// Idea: a tile is turned in local memory whose rows are PADDING elements longer.
// It beats `shared` because the padding spreads the turned reads over the banks.
// Requires: BLOCK x BLOCK work-items a group (BLOCK 8, 16 or 32).
//
//   reads of a warp   tile[x][y]   place x (BLOCK + PADDING) + y: with BLOCK 32 and 4-byte elements
//                                  32 banks for PADDING 1, 16 of them, each twice, for PADDING 2
#include "problem.h"

KERNEL_OF(shared_padded, BLOCK, BLOCK)(TRANSPOSE_ARGUMENTS) {
  LOCAL Element tile_of_group[BLOCK][BLOCK + PADDING];
  const Tile tile = tile_of(group_x(), tiles_rows, tiles_cols);
  const int x = local_x(), y = local_y();
  const long i0 = (long)tile.row * BLOCK, j0 = (long)tile.col * BLOCK;
  const GLOBAL uchar* from = in + in_offset;
  GLOBAL uchar* to = out + out_offset;
  const bool whole = is_aligned(from, BYTES), to_whole = is_aligned(to, BYTES);
  if (i0 + y < rows && j0 + x < cols)
    tile_of_group[y][x] = load_element(
        from + (tile.batch * in_batch + (i0 + y) * in_row + (j0 + x) * in_col) * BYTES, whole);
  sync();
  if (i0 + x < rows && j0 + y < cols)
    store_element(to + (tile.batch * out_batch + (i0 + x) * out_row + (j0 + y) * out_col) * BYTES,
                  tile_of_group[x][y], to_whole);
}
