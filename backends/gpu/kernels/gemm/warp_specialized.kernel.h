// Idea: four warps only copy, the others only multiply; barriers that count arrivals keep STAGES
// stages of panels between them (warp_roles.h).
// It beats `register_tile` because the multiplying warps issue almost nothing but fused
// multiply-adds, never wait for each other, and get the registers that the copying ones give back.
// Requires: elements of 4 bytes; compute capability 9.0; more than 48 KB of local memory.
//
//   C tile TILE_M x TILE_N; each multiplying work-item holds HEIGHT x BREADTH elements.
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
#elif TILE_128x256 || TILE_128x256_cut
enum { HEIGHT = 16, BREADTH = 8, WARPS_DOWN = 2, WARPS_ACROSS = 4, GROUPS = 1, BY_LINES = 1 };
enum { DEPTH = 16, UNROLL = 8, STAGES = 6, AHEAD = 1, KEEP = 40, WANT = 232 };
#elif TILE_192x192
enum { HEIGHT = 12, BREADTH = 12, WARPS_DOWN = 4, WARPS_ACROSS = 2, GROUPS = 1, BY_LINES = 1 };
enum { DEPTH = 16, UNROLL = 8, STAGES = 6, AHEAD = 1, KEEP = 40, WANT = 232 };
#endif
#define CUT TILE_128x256_cut
#define TILE_M (WARPS_DOWN * 4 * HEIGHT)
#define TILE_N (WARPS_ACROSS * 8 * BREADTH)
#define MULTIPLIERS (WARPS_DOWN * WARPS_ACROSS * 32)
#include "stream.h"
#include "warp_block.h"
#include "warp_roles.h"
static_assert(CAN_STREAM(TILE_M) && CAN_STREAM(TILE_N));

KERNEL_BOUNDED(warp_specialized, MULTIPLIERS + COPIERS, 1, GROUPS)(GEMM_ARGUMENTS CUT_ARGUMENTS) {
  LOCAL_ARENA(arena, STAGES * (PANEL_A + PANEL_B) * 4);
  LOCAL ALIGNED(16) T lines[MULTIPLIERS / 32][LINES];
  LOCAL Barrier barriers[2 * STAGES];
  multiply_by_roles(GEMM_PASSED CUT_PASSED, (LOCAL_POINTER T*)arena, barriers,
                    lines[local_x() / 32 % (MULTIPLIERS / 32)]);
}
