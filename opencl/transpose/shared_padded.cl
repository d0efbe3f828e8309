// Idea: a tile is turned in local memory whose rows are PADDING elements longer.
// It beats `shared` because the padding spreads the turned reads over the banks.
// Requires: BLOCK x BLOCK work-items a group (BLOCK 8, 16 or 32).
//
//   reads of a warp   turned[x][y]   place x (BLOCK + PADDING) + y: for BLOCK 32, 4-byte elements
//                                    32 banks for PADDING 1, 16 of them, each twice, for PADDING 2
#include "problem.h"

__kernel __attribute__((reqd_work_group_size(BLOCK, BLOCK, 1))) void shared_padded(
    TRANSPOSE_ARGUMENTS) {
  __local Element turned[BLOCK][BLOCK + PADDING];
  const Tile tile = tile_of(get_group_id(0), tiles_rows, tiles_cols);
  const int x = get_local_id(0), y = get_local_id(1);
  const long i0 = (long)tile.row * BLOCK, j0 = (long)tile.col * BLOCK;
  __global const uchar* from = in + in_offset;
  __global uchar* to = out + out_offset;
  const bool whole = is_aligned(from, BYTES), to_whole = is_aligned(to, BYTES);
  if (i0 + y < rows && j0 + x < cols)
    turned[y][x] = load_element(
        from + (tile.batch * in_batch + (i0 + y) * in_row + (j0 + x) * in_col) * BYTES, whole);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i0 + x < rows && j0 + y < cols)
    store_element(to + (tile.batch * out_batch + (i0 + x) * out_row + (j0 + y) * out_col) * BYTES,
                  turned[x][y], to_whole);
}
