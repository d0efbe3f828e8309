// Idea: a tile is turned in shared memory whose rows are PADDING elements longer.
// It beats `shared` because the padding spreads the turned reads over the banks.
// Requires: BLOCK x BLOCK threads a block (BLOCK 8, 16 or 32).
//
//   reads of a warp   turned[x][y]   place x (BLOCK + PADDING) + y: for BLOCK 32, 4-byte elements
//                                    32 banks for PADDING 1, 16 of them, each twice, for PADDING 2
#include "problem.h"

extern "C" __global__ void __launch_bounds__(BLOCK * BLOCK) shared_padded(TRANSPOSE_ARGUMENTS) {
  __shared__ Element turned[BLOCK][BLOCK + PADDING];
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
