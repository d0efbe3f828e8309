// Idea: a tile is read along the input's rows, turned in local memory, written along the output's.
// It beats `naive` with blocks of 32 because both sides then touch memory in whole lines. With 16
// and 8 they touch halves and quarters of lines, and naive's writes touch fewer lines: little or
// nothing is gained. Requires: block x block work-items a group (8, 16 or 32).
//
//   writes of a warp   place y block + x   neighbours x side by side, one bank each
//   its reads          place x block + y   `block` apart: for 32 and 4-byte elements 32 places in
//                                          one bank, read one by one
#include "problem.h"

__kernel void shared(TRANSPOSE_ARGUMENTS) {
  __local Element turned[32 * 32];
  const Tile tile = tile_of(get_group_id(0), tiles_rows, tiles_cols);
  const int x = get_local_id(0), y = get_local_id(1), block = get_local_size(0);
  const long i0 = (long)tile.row * block, j0 = (long)tile.col * block;
  __global const uchar* from = in + in_offset;
  __global uchar* to = out + out_offset;
  const bool whole = is_aligned(from, BYTES), to_whole = is_aligned(to, BYTES);
  if (i0 + y < rows && j0 + x < cols)
    turned[y * block + x] = load_element(
        from + (tile.batch * in_batch + (i0 + y) * in_row + (j0 + x) * in_col) * BYTES, whole);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i0 + x < rows && j0 + y < cols)
    store_element(to + (tile.batch * out_batch + (i0 + x) * out_row + (j0 + y) * out_col) * BYTES,
                  turned[x * block + y], to_whole);
}
