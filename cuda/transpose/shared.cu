// Idea: a tile is read along the input's rows, turned in shared memory, written along the output's.
// It beats `naive` with BLOCK 32 because both sides then touch memory in whole lines. With 16 and 8
// they touch halves and quarters of lines, and naive's writes touch fewer lines: little or nothing
// is gained. Requires: BLOCK x BLOCK threads a block (BLOCK 8, 16 or 32).
//
//   writes of a warp   turned[y][x]   place y BLOCK + x   neighbours x side by side, one bank each
//   its reads          turned[x][y]   place x BLOCK + y   BLOCK apart: BLOCK 32, 4-byte elements:
//                                                         32 places in one bank, read one by one
#include "problem.h"

extern "C" __global__ void __launch_bounds__(BLOCK * BLOCK) shared(TRANSPOSE_ARGUMENTS) {
  __shared__ Element turned[BLOCK][BLOCK];
  const Tile tile = tile_of(blockIdx.x, tiles_rows, tiles_cols);
  const int x = threadIdx.x, y = threadIdx.y;
  const long i0 = (long)tile.row * BLOCK, j0 = (long)tile.col * BLOCK;
  const uchar* from = in + in_offset;
  uchar* to = out + out_offset;
  const bool whole = is_aligned(from, BYTES), to_whole = is_aligned(to, BYTES);
  if (i0 + y < rows && j0 + x < cols)
    turned[y][x] = load_element(
        from + (tile.batch * in_batch + (i0 + y) * in_row + (j0 + x) * in_col) * BYTES, whole);
  __syncthreads();
  if (i0 + x < rows && j0 + y < cols)
    store_element(to + (tile.batch * out_batch + (i0 + x) * out_row + (j0 + y) * out_col) * BYTES,
                  turned[x][y], to_whole);
}
