// Idea: `warp_specialized` for f64: some warps only copy, the others only feed the tensor cores.
// It beats `tensor` because the multiplying warps issue almost nothing but matrix steps and the
// reads for the next one, wait for no other warp, and get the registers that the copying ones give
// back.
// Requires: f64; compute capability 9.0; a passed self-check of the tensor cores' order (mma.h);
// more than 48 KB of local memory.
//
//   C tile TILE_M x TILE_N; a warp computes DOWN_BLOCKS x ACROSS_BLOCKS blocks of 16 x 8, 8 steps of k at once or, where
//   STEP says so, 16.
//
// T float: of numerics accurate. The tensor cores' operands become f64 as they are read from local memory, where twice as
// many steps of k find room.
#define CHAIN double
#include "problem.h"

#if TILE_16x32
enum { DOWN_BLOCKS = 1, ACROSS_BLOCKS = 1, WARPS_DOWN = 1, WARPS_ACROSS = 4, GROUPS = 2 };
enum { COPIERS = 128, STAGES = 8, STEPS = 32, WANT = 0 };
#define STEP 16
#elif TILE_32x32
enum { DOWN_BLOCKS = 1, ACROSS_BLOCKS = 2, WARPS_DOWN = 2, WARPS_ACROSS = 2, GROUPS = 2 };
enum { COPIERS = 128, STAGES = 12, STEPS = 32, WANT = 208 };
#define KEEP 40 /* with 24, copies of odd rows spill: 319 takes 6.3 µs, not 5.6 */
#define STEP 16
#elif TILE_32x48
enum { DOWN_BLOCKS = 1, ACROSS_BLOCKS = 3, WARPS_DOWN = 2, WARPS_ACROSS = 2, GROUPS = 1 };
enum { COPIERS = 128, STAGES = 9, STEPS = 32, WANT = 0 };
#define STEP 16
#elif TILE_32x64
enum { DOWN_BLOCKS = 1, ACROSS_BLOCKS = 4, WARPS_DOWN = 2, WARPS_ACROSS = 2, GROUPS = 2 };
enum { COPIERS = 128, STAGES = 6, STEPS = 16, WANT = 0 };
#elif TILE_48x64
enum { DOWN_BLOCKS = 3, ACROSS_BLOCKS = 2, WARPS_DOWN = 1, WARPS_ACROSS = 4, GROUPS = 2 };
enum { COPIERS = 128, STAGES = 3, STEPS = 32, WANT = 208 };
#define KEEP 24
#define STEP 16
#elif TILE_48x96
enum { DOWN_BLOCKS = 3, ACROSS_BLOCKS = 3, WARPS_DOWN = 1, WARPS_ACROSS = 4, GROUPS = 1 };
enum { COPIERS = 128, STAGES = 6, STEPS = 16, WANT = 0 };
#elif TILE_64x64
enum { DOWN_BLOCKS = 1, ACROSS_BLOCKS = 4, WARPS_DOWN = 4, WARPS_ACROSS = 2, GROUPS = 1 };
enum { COPIERS = 128, STAGES = 6, STEPS = 32, WANT = 232 };
#define KEEP (ODD ? 40 : 24) /* with 24, copies of odd rows spill: 639 takes 18.0 µs, not 15.6 */
#define STEP 16
#elif TILE_96x64
enum { DOWN_BLOCKS = 3, ACROSS_BLOCKS = 2, WARPS_DOWN = 2, WARPS_ACROSS = 4, GROUPS = 1 };
enum { COPIERS = 128, STAGES = 4, STEPS = 32, WANT = 232 };
#define KEEP 24
#define STEP 16
#elif TILE_96x96
enum { DOWN_BLOCKS = 3, ACROSS_BLOCKS = 3, WARPS_DOWN = 2, WARPS_ACROSS = 4, GROUPS = 1 };
enum { COPIERS = 128, STAGES = 6, STEPS = 16, WANT = 232 };
#define KEEP 24
#elif TILE_128x56
enum { DOWN_BLOCKS = 1, ACROSS_BLOCKS = 7, WARPS_DOWN = 8, WARPS_ACROSS = 1, GROUPS = 1 };
enum { COPIERS = 128, STAGES = 4, STEPS = 32, WANT = 232 };
#define KEEP 24
#define STEP 16
#elif TILE_128x64
enum { DOWN_BLOCKS = 2, ACROSS_BLOCKS = 4, WARPS_DOWN = 4, WARPS_ACROSS = 2, GROUPS = 1 };
enum { COPIERS = 128, STAGES = 4, STEPS = 32, WANT = 232 };
#define KEEP 24
#define STEP 16
#elif TILE_96x112
enum { DOWN_BLOCKS = 1, ACROSS_BLOCKS = 7, WARPS_DOWN = 6, WARPS_ACROSS = 2, GROUPS = 1 };
enum { COPIERS = 128, STAGES = 6, STEPS = 16, WANT = 152 };
#define KEEP 24
#elif TILE_128x96
enum { DOWN_BLOCKS = 2, ACROSS_BLOCKS = 6, WARPS_DOWN = 4, WARPS_ACROSS = 2, GROUPS = 1 };
enum { COPIERS = 128, STAGES = 6, STEPS = 16, WANT = 232 };
#define KEEP 24
#elif TILE_128x112
enum { DOWN_BLOCKS = 2, ACROSS_BLOCKS = 7, WARPS_DOWN = 4, WARPS_ACROSS = 2, GROUPS = 1 };
enum { COPIERS = 128, STAGES = 5, STEPS = 16, WANT = 240 };
#define KEEP 24
#elif TILE_128x128 || TILE_128x128_cut
enum { DOWN_BLOCKS = 2, ACROSS_BLOCKS = 8, WARPS_DOWN = 4, WARPS_ACROSS = 2, GROUPS = 1 };
enum { COPIERS = 128, STAGES = 5, STEPS = 16, WANT = 240 };
#define KEEP 24
#endif
#ifndef KEEP
#define KEEP 0
#endif
#define CUT TILE_128x128_cut
// ODD: the form for rows of A, B or C that are an odd number of elements apart; even ones are 0 to 2.6 % faster without it.
#define ODD_ROWS ODD
enum { DEPTH = WIDTH == 4 ? 32 : STEPS, UNROLL = DEPTH, AHEAD = 1 };
#define TILE_M (WARPS_DOWN * 16 * DOWN_BLOCKS)
#define TILE_N (WARPS_ACROSS * 8 * ACROSS_BLOCKS)
// Tiles of 32x64 take 12 % less time at 500 (A and B by columns) with it, 16x32 7 % more at 64, 96x112 3 % more at 1537.
#define COUNTED_ROWS (KEEP == 0 && TILE_M > 16)
#define MULTIPLIERS (WARPS_DOWN * WARPS_ACROSS * 32)
#include "tensor_block.h"
#include "warp_roles.h"

KERNEL_BOUNDED(tensor_specialized, MULTIPLIERS + COPIERS, 1, GROUPS)(GEMM_ARGUMENTS CUT_ARGUMENTS) {
  LOCAL_ARENA(arena, STAGES * (PANEL_A + PANEL_B) * (16 / WIDTH));
  LOCAL Barrier barriers[2 * STAGES];
  flags |= ODD_FLAGS;
  multiply_by_roles(GEMM_PASSED CUT_PASSED, (LOCAL_POINTER T*)arena, barriers,
                    (LOCAL_POINTER T*)arena);
}
