// Idea: few threads with many outputs each, spread over a block of 64 x 64 (V. Volkov, "Better
// performance at lower occupancy", GTC 2010).
// It beats `ilp4` because a value read from shared memory is used 4 to 16 times, and independent
// multiply-adds of one thread hide the latency that otherwise takes many warps to hide.
// Requires: f32 or f64; THREADS_X x THREADS_Y (below X x Y) threads a block, of which 8 x 4 and 4 x
// 4 have TW 16 alone; EDGES_aligned also m and n that are multiples of 64, k of TW.
//
//   Thread (x, y) holds c(y + r Y, x + s X) of the block: neighbours read and store neighbours.
//
//   X x Y      outputs   reads of shared memory   registers (and bytes spilled) on sm_90a, TW 16,
//                        a multiply-add          EDGES_guarded: f32          f64
//   16 x 16     4 x 4     8/16                   128          126
//   16 x 8      8 x 4    12/32                    64           96
//   8 x 4      16 x 8    24/128                  168          255 (324)
//   4 x 4      16 x 16   32/256, half a warp     255 (284)    168 (4692)
#include "problem.h"

#if EDGES_aligned
#define INSIDE(condition) (true || (condition))
#endif
#include "load_tile.h"

#define BLOCK 64
#define HEIGHT (BLOCK / THREADS_Y)
#define BREADTH (BLOCK / THREADS_X)
#define OUTPUTS (HEIGHT * BREADTH)
#define STEPS (OUTPUTS <= 32 ? 4 : 1) /* of k that are unrolled */
#define A_PITCH (TW + 1)
#define B_PITCH (BLOCK + 1)

static __device__ void multiply_step(T acc[HEIGHT][BREADTH], const T* a, const T* b) {
  T left[HEIGHT], right[BREADTH];
#pragma unroll
  for (int r = 0; r < HEIGHT; ++r) left[r] = a[r * THREADS_Y * A_PITCH];
#pragma unroll
  for (int s = 0; s < BREADTH; ++s) right[s] = b[s * THREADS_X];
#pragma unroll
  for (int r = 0; r < HEIGHT; ++r)
#pragma unroll
    for (int s = 0; s < BREADTH; ++s) acc[r][s] = multiply_add(left[r], right[s], acc[r][s]);
}

extern "C" __global__ void __launch_bounds__(THREADS_X * THREADS_Y) ilp16(GEMM_ARGUMENTS) {
  __shared__ T a_tile[BLOCK * A_PITCH];
  __shared__ T b_tile[TW * B_PITCH];
  const Tile tile = tile_of(blockIdx.x, tiles_m, tiles_n);
  const int x = threadIdx.x, y = threadIdx.y, t = y * THREADS_X + x;
  const long i0 = (long)tile.row * BLOCK, j0 = (long)tile.col * BLOCK;
  const T* a_from = a + a_offset + tile.batch * a_batch + i0 * a_row;
  const T* b_from = b + b_offset + tile.batch * b_batch + j0 * b_col;
  const long depth = flags & MULTIPLY ? k : 0;
  T acc[HEIGHT][BREADTH];
#pragma unroll
  for (int r = 0; r < HEIGHT; ++r)
#pragma unroll
    for (int s = 0; s < BREADTH; ++s) acc[r][s] = 0;
  for (long l0 = 0; l0 < depth; l0 += TW) {
    load_tile(a_tile, BLOCK, TW, A_PITCH, a_from + l0 * a_col, a_row, a_col, m - i0, k - l0, t,
              THREADS_X * THREADS_Y);
    load_tile(b_tile, TW, BLOCK, B_PITCH, b_from + l0 * b_row, b_row, b_col, k - l0, n - j0, t,
              THREADS_X * THREADS_Y);
    __syncthreads();
#pragma unroll 1
    for (int first = 0; first < TW; first += STEPS) {
#pragma unroll
      for (int l = 0; l < STEPS; ++l)
        multiply_step(acc, a_tile + y * A_PITCH + first + l, b_tile + (first + l) * B_PITCH + x);
    }
    __syncthreads();
  }
  const int rows = m - i0 < BLOCK ? (int)(m - i0) - y : BLOCK - y;
  const int cols = n - j0 < BLOCK ? (int)(n - j0) - x : BLOCK - x;
  c += c_offset + tile.batch * c_batch + (i0 + y) * c_row + (j0 + x);  // c_col is 1
#pragma unroll
  for (int r = 0; r < HEIGHT; ++r) {
    if (INSIDE(r * THREADS_Y < rows)) {
#pragma unroll
      for (int s = 0; s < BREADTH; ++s)
        if (INSIDE(s * THREADS_X < cols)) finish(c + s * THREADS_X, acc[r][s], alpha, beta, flags);
    }
    c += THREADS_Y * c_row;
  }
}
