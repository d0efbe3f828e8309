// Idea: a tile is read along the input's rows, turned in local memory, written along the output's.
// It beats `naive` with BLOCK 32 because both sides then touch memory in whole lines. With 16 and 8 they
// touch halves and quarters of lines, and naive's writes touch fewer lines: little or nothing is gained.
// Requires: BLOCK x BLOCK work-items a group (BLOCK 8, 16 or 32).
//
//   writes of a warp   tile[y][x]   place y BLOCK + x   neighbours x side by side, one bank each
//   its reads          tile[x][y]   place x BLOCK + y   BLOCK apart: with BLOCK 32 and 4-byte elements
//                                                       32 places in one bank, read one by one
#include "problem.h"

KERNEL_OF(shared, BLOCK, BLOCK)(TRANSPOSE_ARGUMENTS) {
  LOCAL Element tile_of_group[BLOCK][BLOCK];
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
