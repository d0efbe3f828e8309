// Idea: a block loads TILE x TILE of A and of B into shared memory, and all its threads use them.
// It beats `naive` because each value read from memory is used TILE times.
// Requires: TILE x TILE threads a block (TILE 16 or 32).
//
//            l ->   n               Thread    (y, x) holds c(y, x) of the tile. The index of an
//   m  [A tile] x [B tile]          operand that has unit stride runs along x while loading, so
//        TILE       TILE            neighbours read neighbours; the column of padding keeps the
//                                   turned store free of bank conflicts.
#define PLAIN_READS
#include "problem.h"

extern "C" __global__ void __launch_bounds__(TILE * TILE) shared(GEMM_ARGUMENTS) {
  __shared__ T a_tile[TILE][TILE + 1];
  __shared__ T b_tile[TILE][TILE + 1];
  const Tile tile = tile_of(blockIdx.x, tiles_m, tiles_n);
  const int x = threadIdx.x, y = threadIdx.y;
  const long i0 = (long)tile.row * TILE, j0 = (long)tile.col * TILE;
  const int a_y = a_row == 1 ? x : y, a_x = a_row == 1 ? y : x;
  const int b_y = b_row == 1 ? x : y, b_x = b_row == 1 ? y : x;
  const T* a_from = a + a_offset + tile.batch * a_batch + (i0 + a_y) * a_row + a_x * a_col;
  const T* b_from = b + b_offset + tile.batch * b_batch + b_y * b_row + (j0 + b_x) * b_col;
  const long depth = flags & MULTIPLY ? k : 0;
  T acc = 0;
  for (long l0 = 0; l0 < depth; l0 += TILE) {
    a_tile[a_y][a_x] = i0 + a_y < m && l0 + a_x < k ? a_from[l0 * a_col] : (T)0;
    b_tile[b_y][b_x] = l0 + b_y < k && j0 + b_x < n ? b_from[l0 * b_row] : (T)0;
    __syncthreads();
#pragma unroll
    for (int l = 0; l < TILE; ++l) acc = multiply_add(a_tile[y][l], b_tile[l][x], acc);
    __syncthreads();
  }
  if (i0 + y < m && j0 + x < n)
    finish(c + c_offset + tile.batch * c_batch + (i0 + y) * c_row + (j0 + x) * c_col, acc, alpha,
           beta, flags);
}
