// Idea: four warps only copy, the others only multiply; barriers that count arrivals keep STAGES
// stages of panels between them.
// It beats `register_tile` because the multiplying warps issue almost nothing but fused
// multiply-adds, never wait for each other, and get the registers that the copying ones give back.
// Requires: elements of 4 bytes; compute capability 9.0 (setmaxnreg). No sister in OpenCL, whose PTX
// has no target sm_90a.
//
//   full[s]: the copies of stage s have arrived        empty[s]: all multiplying warps have read it
//   C tile TILE_M x TILE_N; each multiplying work-item holds HEIGHT x BREADTH (register_block.h).
#include "problem.h"

#if SHAPE_large
#define TILE_M 128
#define TILE_N 256
#define HEIGHT 16
#define STAGES 4
#define GROUPS 1
#define KEEP 40
#define WANT 232
#else
#define TILE_M 64
#define TILE_N 128
#define HEIGHT 8
#define STAGES 5
#define GROUPS 2
#define KEEP 40
#define WANT 208
#endif
#define BREADTH 8
#define DEPTH 16
#define THREADS 128 /* that copy */
#define MULTIPLIERS (TILE_M / HEIGHT * (TILE_N / BREADTH))
#define WARPS_DOWN (TILE_M / (4 * HEIGHT))
#include "barrier.h"
#include "panel.h"
#include "register_block.h"

KERNEL_BOUNDED(warp_specialized, MULTIPLIERS + THREADS, 1, GROUPS)(GEMM_ARGUMENTS) {
  LOCAL_ARENA(arena, STAGES * (PANEL(TILE_M) + PANEL(TILE_N)) * 4);
  LOCAL Barrier full[STAGES];
  LOCAL Barrier empty[STAGES];
  LOCAL_POINTER T* const a_panel = (LOCAL_POINTER T*)arena;
  LOCAL_POINTER T* const b_panel = a_panel + STAGES * PANEL(TILE_M);
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const long i0 = (long)tile.row * TILE_M, j0 = (long)tile.col * TILE_N;
  const long depth = flags & MULTIPLY ? k : 0;
  const int t = local_x();
  if (t == 0)
    for (int s = 0; s < STAGES; ++s) {
      start_barrier(&full[s], THREADS);
      start_barrier(&empty[s], MULTIPLIERS / 32);
    }
  sync();
  int stage = 0;
  uint parity = 0;
  if (t >= MULTIPLIERS) {
    GIVE_REGISTERS(KEEP);
    const int u = t - MULTIPLIERS;
    Feed a_feed =
        feed_of(a + a_offset + tile.batch * a_batch, a_row, a_col, a_batch, i0, m, TILE_M, u);
    Feed b_feed =
        feed_of(b + b_offset + tile.batch * b_batch, b_col, b_row, b_batch, j0, n, TILE_N, u);
    for (long l0 = 0; l0 < depth; l0 += DEPTH) {
      wait_for(&empty[stage], parity ^ 1);
      copy_panel(&a_feed, a_panel + stage * PANEL(TILE_M), depth - l0, TILE_M, u);
      copy_panel(&b_feed, b_panel + stage * PANEL(TILE_N), depth - l0, TILE_N, u);
      arrive_when_copied(&full[stage]);
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    commit_copies();
    await_copies(0);
  } else {
    TAKE_REGISTERS(WANT);
    const int warp = t / 32;
    const int row = warp % WARPS_DOWN * 4 * HEIGHT + t % 32 / 8 * WIDTH;
    const int col = warp / WARPS_DOWN * 8 * BREADTH + t % 8 * WIDTH;
    T acc[HEIGHT][BREADTH];
    clear_block(acc);

    for (long l0 = 0; l0 < depth; l0 += DEPTH) {
      wait_for(&full[stage], parity);
      const LOCAL_POINTER T* a_stage = a_panel + stage * PANEL(TILE_M) + row;
      const LOCAL_POINTER T* b_stage = b_panel + stage * PANEL(TILE_N) + col;
#pragma unroll
      for (int l = 0; l < DEPTH; ++l)
        multiply_step(acc, a_stage + l * ROW(TILE_M), b_stage + l * ROW(TILE_N));
      __syncwarp();
      if (t % 32 == 0) arrive(&empty[stage]);
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }

    c += c_offset + tile.batch * c_batch + (i0 + row) * c_row + (j0 + col) * c_col;
    store_block(c, c_row, c_col, m - i0 - row, n - j0 - col, acc, alpha, beta, flags);
  }
}
