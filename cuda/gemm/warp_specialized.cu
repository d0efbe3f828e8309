// Idea: four warps only copy, the others only multiply; barriers that count arrivals keep STAGES
// stages of panels between them.
// It beats `register_tile` because the multiplying warps issue almost nothing but fused
// multiply-adds, never wait for each other, and get the registers that the copying ones give back.
// Requires: elements of 4 bytes; compute capability 9.0 (setmaxnreg). No sister in OpenCL, whose PTX
// has no target sm_90a.
//
//   full[s]: the copies of stage s have arrived        empty[s]: all multiplying warps have read it
//   C tile TILE_M x TILE_N; each multiplying work-item holds HEIGHT x BREADTH elements.
//   The last tiles of a row or column are shifted inwards, so that no copy looks up what is inside;
//   what two tiles compute, with the same bits, the first of them stores.
#include "problem.h"

// DEPTH steps of k a stage; UNROLL of them in the loop's text, of the largest blocks only half:
// 2048 multiply-adds fill 32 KiB, and the first tile of a group is then slower. Fragments are read
// AHEAD steps before they are used. A group's registers move between its warps where KEEP and WANT
// say how many. BY_LINES: how C is stored (warp_block.h).
#if TILE_16x32
enum { HEIGHT = 2, BREADTH = 2, WARPS_DOWN = 2, WARPS_ACROSS = 2, GROUPS = 2, BY_LINES = 0 };
enum { DEPTH = 32, UNROLL = 32, STAGES = 6, AHEAD = 7, KEEP = 0, WANT = 0 };
#elif TILE_32x64
enum { HEIGHT = 4, BREADTH = 4, WARPS_DOWN = 2, WARPS_ACROSS = 2, GROUPS = 2, BY_LINES = 0 };
enum { DEPTH = 32, UNROLL = 32, STAGES = 6, AHEAD = 1, KEEP = 0, WANT = 0 };
#elif TILE_48x96
enum { HEIGHT = 6, BREADTH = 6, WARPS_DOWN = 2, WARPS_ACROSS = 2, GROUPS = 2, BY_LINES = 0 };
enum { DEPTH = 32, UNROLL = 32, STAGES = 4, AHEAD = 1, KEEP = 0, WANT = 0 };
#elif TILE_64x128
enum { HEIGHT = 8, BREADTH = 8, WARPS_DOWN = 2, WARPS_ACROSS = 2, GROUPS = 2, BY_LINES = 1 };
enum { DEPTH = 16, UNROLL = 16, STAGES = 6, AHEAD = 1, KEEP = 40, WANT = 208 };
#elif TILE_96x96
enum { HEIGHT = 12, BREADTH = 6, WARPS_DOWN = 2, WARPS_ACROSS = 2, GROUPS = 2, BY_LINES = 0 };
enum { DEPTH = 16, UNROLL = 16, STAGES = 6, AHEAD = 1, KEEP = 40, WANT = 208 };
#elif TILE_96x192
enum { HEIGHT = 12, BREADTH = 6, WARPS_DOWN = 2, WARPS_ACROSS = 4, GROUPS = 1, BY_LINES = 1 };
enum { DEPTH = 16, UNROLL = 16, STAGES = 6, AHEAD = 1, KEEP = 40, WANT = 232 };
#elif TILE_128x256
enum { HEIGHT = 16, BREADTH = 8, WARPS_DOWN = 2, WARPS_ACROSS = 4, GROUPS = 1, BY_LINES = 1 };
enum { DEPTH = 16, UNROLL = 8, STAGES = 6, AHEAD = 1, KEEP = 40, WANT = 232 };
#elif TILE_192x192
enum { HEIGHT = 12, BREADTH = 12, WARPS_DOWN = 4, WARPS_ACROSS = 2, GROUPS = 1, BY_LINES = 1 };
enum { DEPTH = 16, UNROLL = 8, STAGES = 6, AHEAD = 1, KEEP = 40, WANT = 232 };
#endif
#define TILE_M (WARPS_DOWN * 4 * HEIGHT)
#define TILE_N (WARPS_ACROSS * 8 * BREADTH)
#define MULTIPLIERS (WARPS_DOWN * WARPS_ACROSS * 32)
#include "barrier.h"
#include "stream.h"
#include "warp_block.h"
static_assert(CAN_STREAM(TILE_M) && CAN_STREAM(TILE_N));
// Else TAKE_REGISTERS waits for ever: a group begins with the same number, a multiple of 8, for all.
static_assert(MULTIPLIERS * WANT + COPIERS * KEEP <=
              (MULTIPLIERS + COPIERS) * (65536 / GROUPS / (MULTIPLIERS + COPIERS) / 8 * 8));

// Where the tile that begins at `at` begins if it must end before `end`, where it can.
DEVICE long inwards(long at, long end, const int size) {
  return at + size <= end ? at : end < size ? 0 : end - size;
}

KERNEL_BOUNDED(warp_specialized, MULTIPLIERS + COPIERS, 1, GROUPS)(GEMM_ARGUMENTS) {
  LOCAL_ARENA(arena, STAGES * (PANEL(TILE_M) + PANEL(TILE_N)) * 4);
  LOCAL Barrier full[STAGES];
  LOCAL Barrier empty[STAGES];
  LOCAL ALIGNED(16) T lines[MULTIPLIERS / 32][LINES];
  LOCAL_POINTER T* const a_panel = (LOCAL_POINTER T*)arena;
  LOCAL_POINTER T* const b_panel = a_panel + STAGES * PANEL(TILE_M);
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const long i1 = (long)tile.row * TILE_M, j1 = (long)tile.col * TILE_N;  // of what it stores
  const long i0 = inwards(i1, m, TILE_M), j0 = inwards(j1, n, TILE_N);
  const long depth = flags & MULTIPLY ? k : 0;
  const int t = local_x();
  if (t == 0)
    for (int s = 0; s < STAGES; ++s) {
      start_barrier(&full[s], COPIERS);
      start_barrier(&empty[s], MULTIPLIERS / 32);
    }
  sync();
  int stage = 0;
  uint parity = 0;
  if (t >= MULTIPLIERS) {
    if (KEEP) GIVE_REGISTERS(KEEP);
    const int u = t - MULTIPLIERS;
    Feed a_feed = feed_of(a + a_offset + tile.batch * a_batch + i0 * a_row, a_row, a_col, m - i0,
                          TILE_M, u);
    Feed b_feed = feed_of(b + b_offset + tile.batch * b_batch + j0 * b_col, b_col, b_row, n - j0,
                          TILE_N, u);
    for (long left = depth; left > 0; left -= DEPTH) {
      wait_for(&empty[stage], parity ^ 1);
      copy_stage(&a_feed, a_panel + stage * PANEL(TILE_M), left, TILE_M, u);
      copy_stage(&b_feed, b_panel + stage * PANEL(TILE_N), left, TILE_N, u);
      arrive_when_copied(&full[stage]);
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    commit_copies();
    await_copies(0);
  } else {
    if (WANT) TAKE_REGISTERS(WANT);
    const int warp = t / 32, lane = t % 32;
    const int row = warp % WARPS_DOWN * 4 * HEIGHT, col = warp / WARPS_DOWN * 8 * BREADTH;
    T acc[HEIGHT][BREADTH], x[AHEAD + 1][HEIGHT], y[AHEAD + 1][BREADTH];
#pragma unroll
    for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
      for (int j = 0; j < BREADTH; ++j) acc[i][j] = 0;

    const LOCAL_POINTER T* a_stage = a_panel + row + DOWN(lane) * RUN_OF(HEIGHT);
    const LOCAL_POINTER T* b_stage = b_panel + col + ACROSS(lane) * RUN_OF(BREADTH);
    if (depth > 0) {
      wait_for(&full[0], 0);
#pragma unroll
      for (int l = 0; l < AHEAD; ++l)
        read_fragments(x[l], y[l], a_stage + l * ROW(TILE_M), b_stage + l * ROW(TILE_N));
    }
    for (long left = depth; left > 0; left -= DEPTH)
#pragma unroll 1
      for (int part = 0; part < DEPTH / UNROLL; ++part)
#pragma unroll
        for (int l = 0; l < UNROLL; ++l) {
          if (l == UNROLL - AHEAD) {  // all of this part is on its way into registers
            if (part < DEPTH / UNROLL - 1) {
              a_stage += UNROLL * ROW(TILE_M);
              b_stage += UNROLL * ROW(TILE_N);
            } else {
              __syncwarp();
              if (lane == 0) arrive(&empty[stage]);
              if (++stage == STAGES) stage = 0, parity ^= 1;
              if (left > DEPTH) wait_for(&full[stage], parity);  // else what is read isn't used
              a_stage = a_panel + stage * PANEL(TILE_M) + row + DOWN(lane) * RUN_OF(HEIGHT);
              b_stage = b_panel + stage * PANEL(TILE_N) + col + ACROSS(lane) * RUN_OF(BREADTH);
            }
          }
          const int next = (l + AHEAD) % UNROLL, to = next % (AHEAD + 1);
          read_fragments(x[to], y[to], a_stage + next * ROW(TILE_M), b_stage + next * ROW(TILE_N));
          multiply_fragments(acc, x[l % (AHEAD + 1)], y[l % (AHEAD + 1)]);
        }

    c += c_offset + tile.batch * c_batch + (i0 + row) * c_row + (j0 + col) * c_col;
    store_warp(c, c_row, i1 - i0 - row, m - i0 - row, j1 - j0 - col, n - j0 - col, acc,
               lines[warp], lane, alpha, beta, flags);
  }
}
