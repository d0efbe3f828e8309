// Idea: one thread per element; neighbours read neighbours and write a stride apart.
// It is the first rung: a warp's writes touch `block` lines of memory for 32 elements.
// Requires: block x block threads a block (8, 16 or 32).
#include "problem.h"

extern "C" __global__ void __launch_bounds__(32 * 32) naive(TRANSPOSE_ARGUMENTS) {
  const Tile tile = tile_of(blockIdx.x, tiles_rows, tiles_cols);
  const int x = threadIdx.x, y = threadIdx.y, block = blockDim.x;
  const long i = (long)tile.row * block + y, j = (long)tile.col * block + x;
  if (i >= rows || j >= cols) return;
  const uchar* from = in + in_offset;
  uchar* to = out + out_offset;
  const bool whole = is_aligned(from, BYTES), to_whole = is_aligned(to, BYTES);
  from += (tile.batch * in_batch + i * in_row + j * in_col) * BYTES;
  to += (tile.batch * out_batch + i * out_row + j * out_col) * BYTES;
  store_element(to, load_element(from, whole), to_whole);
}
