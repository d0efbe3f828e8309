// Idea: one work-item per element; neighbours read neighbours and write a stride apart.
// It is the first rung: a warp's writes touch `block` lines of memory for 32 elements.
// Requires: block x block work-items a group (8, 16 or 32).
#include "problem.h"

__kernel void naive(TRANSPOSE_ARGUMENTS) {
  const Tile tile = tile_of(get_group_id(0), tiles_rows, tiles_cols);
  const int x = get_local_id(0), y = get_local_id(1), block = get_local_size(0);
  const long i = (long)tile.row * block + y, j = (long)tile.col * block + x;
  if (i >= rows || j >= cols) return;
  __global const uchar* from = in + in_offset;
  __global uchar* to = out + out_offset;
  const bool whole = is_aligned(from, BYTES), to_whole = is_aligned(to, BYTES);
  from += (tile.batch * in_batch + i * in_row + j * in_col) * BYTES;
  to += (tile.batch * out_batch + i * out_row + j * out_col) * BYTES;
  store_element(to, load_element(from, whole), to_whole);
}
