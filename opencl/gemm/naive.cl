// Idea: one work-item per element of C walks a row of A and a column of B.
// It is the first rung: each value of A and B is read from memory n and m times.
// Requires: 16 x 16 work-items a group.
#define PLAIN_READS
#include "problem.h"

__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void naive(GEMM_ARGUMENTS) {
  const Tile tile = tile_of(get_group_id(0), tiles_m, tiles_n);
  const int x = get_local_id(0), y = get_local_id(1);
  const long i = (long)tile.row * 16 + y, j = (long)tile.col * 16 + x;
  if (i >= m || j >= n) return;
  __global const T* row = a + a_offset + tile.batch * a_batch + i * a_row;
  __global const T* col = b + b_offset + tile.batch * b_batch + j * b_col;
  c += c_offset + tile.batch * c_batch + i * c_row + j * c_col;
  T acc = begin(c, flags);
  if (flags & MULTIPLY)
    for (long l = 0; l < k; ++l) acc = multiply_add(row[l * a_col], col[l * b_row], acc);
  finish(c, acc, alpha, beta, flags);
}
