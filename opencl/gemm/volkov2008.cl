// Idea: a work-item holds a row of C's block in registers and reads its element of each column of A
// straight into a register; only B's tile is shared (V. Volkov, J. Demmel, "Benchmarking GPUs to
// tune dense linear algebra", SC 2008). It can beat `ilp16` because A never goes through local
// memory, and all work-items read the same value of B, so that one read of 16 bytes serves 16 /
// sizeof(T) multiply-adds of the whole warp. Requires: 64 work-items a group. As in BLAS columns
// have unit stride: the row in gemm_study_variants.cpp hands over the problem whose C is such.
//
//              n: 16        Work-item t holds row t of the block, c(t, 0 ... 15).
//      l      [B tile] 16
//     [A] x                 Column l of A: 64 neighbours in memory, one a work-item; DEPTH columns
//   m  64     [C block]     are read ahead while B's tile is on its way.
#include "load_tile.h"
#include "problem.h"

#define THREADS 64
#define BREADTH 16
#define DEPTH 16
#define PITCH (BREADTH + WIDTH) /* whole vectors; turned stores fall on 8 banks, not on 2 */

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void volkov2008(GEMM_ARGUMENTS) {
  __local __attribute__((aligned(16))) T b_tile[DEPTH * PITCH];
  const Tile tile = tile_of(get_group_id(0), tiles_m, tiles_n);
  const int t = get_local_id(0);
  const long i = (long)tile.row * THREADS + t, j0 = (long)tile.col * BREADTH;
  __global const T* a_from = a + a_offset + tile.batch * a_batch + i * a_row;
  __global const T* b_from = b + b_offset + tile.batch * b_batch + j0 * b_col;
  const long depth = flags & MULTIPLY ? k : 0;
  T acc[BREADTH] = {0};
  for (long l0 = 0; l0 < depth; l0 += DEPTH) {
    T left[DEPTH];
#pragma unroll
    for (int l = 0; l < DEPTH; ++l) left[l] = i < m && l0 + l < k ? a_from[(l0 + l) * a_col] : (T)0;
    load_tile(b_tile, DEPTH, BREADTH, PITCH, b_from + l0 * b_row, b_row, b_col, k - l0, n - j0, t,
              THREADS);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int l = 0; l < DEPTH; ++l)
#pragma unroll
      for (int s = 0; s < BREADTH; ++s)
        acc[s] = multiply_add(left[l], b_tile[l * PITCH + s], acc[s]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c += c_offset + tile.batch * c_batch + i * c_row + j0 * c_col;
#pragma unroll
  for (int s = 0; s < BREADTH; ++s)
    if (i < m && j0 + s < n) finish(c + s * c_col, acc[s], alpha, beta, flags);
}
