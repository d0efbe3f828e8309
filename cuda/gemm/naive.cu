// Idea: one thread per element of C walks a row of A and a column of B.
// It is the first rung: each value of A and B is read from memory n and m times.
// Requires: 16 x 16 threads a block.
#define PLAIN_READS
#include "problem.h"

extern "C" __global__ void __launch_bounds__(16 * 16) naive(GEMM_ARGUMENTS) {
  const Tile tile = tile_of(blockIdx.x, tiles_m, tiles_n);
  const int x = threadIdx.x, y = threadIdx.y;
  const long i = (long)tile.row * 16 + y, j = (long)tile.col * 16 + x;
  if (i >= m || j >= n) return;
  const T* row = a + a_offset + tile.batch * a_batch + i * a_row;
  const T* col = b + b_offset + tile.batch * b_batch + j * b_col;
  c += c_offset + tile.batch * c_batch + i * c_row + j * c_col;
  T acc = begin(c, flags);
  if (flags & MULTIPLY)
    for (long l = 0; l < k; ++l) acc = multiply_add(row[l * a_col], col[l * b_row], acc);
  finish(c, acc, alpha, beta, flags);
}
