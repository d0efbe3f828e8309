// Idea: a tile is turned in local memory whose rows are `padding` elements longer.
// It beats `shared` because the padding spreads the turned reads over the banks.
// Requires: block x block work-items a group (8, 16 or 32), padding 1 or 2.
//
//   reads of a warp   place x (block + padding) + y: with blocks of 32 and 4-byte elements 32 banks
//                     for padding 1, 16 of them, each twice, for padding 2
#include "problem.h"

__kernel void shared_padded(TRANSPOSE_ARGUMENTS, int padding) {
  __local Element turned[32 * (32 + 2)];
  const Tile tile = tile_of(get_group_id(0), tiles_rows, tiles_cols);
  const int x = get_local_id(0), y = get_local_id(1), block = get_local_size(0);
  const int pitch = block + padding;
  const long i0 = (long)tile.row * block, j0 = (long)tile.col * block;
  __global const uchar* from = in + in_offset;
  __global uchar* to = out + out_offset;
  const bool whole = is_aligned(from, BYTES), to_whole = is_aligned(to, BYTES);
  if (i0 + y < rows && j0 + x < cols)
    turned[y * pitch + x] = load_element(
        from + (tile.batch * in_batch + (i0 + y) * in_row + (j0 + x) * in_col) * BYTES, whole);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i0 + x < rows && j0 + y < cols)
    store_element(to + (tile.batch * out_batch + (i0 + x) * out_row + (j0 + y) * out_col) * BYTES,
                  turned[x * pitch + y], to_whole);
}
