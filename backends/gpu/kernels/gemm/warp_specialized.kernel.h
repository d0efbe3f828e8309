// Only NVIDIA's compilers take this text.
// Idea: four warps only copy, the others only multiply; barriers that count arrivals keep STAGES
// stages of panels between them (warp_roles.h).
// It beats `register_tile` because the multiplying warps issue almost nothing but fused
// multiply-adds, never wait for each other, and get the registers that the copying ones give back.
// Requires: elements of 4 bytes; compute capability 9.0; more than 48 KB of local memory.
//
//   C tile TILE_M x TILE_N; each multiplying work-item holds HEIGHT x BREADTH elements.
#include "problem.h"

// The host's table of tiles (gemm_tiles.hpp) has the constants. UNROLL steps of k stand in the
// loop's text, of long stages only half: 2048 multiply-adds fill 32 KiB, and the first tile of a
// group is then slower. Fragments are read AHEAD steps before they are used. A group's
// registers move between its warps where COPIER_REGISTERS and MULTIPLIER_REGISTERS say how many.
// Higher blocks than 8 have no text for a TAIL, which costs them 3 % at 2048.
enum { UNROLL = HEIGHT * BREADTH * DEPTH >= 1536 ? DEPTH / 2 : DEPTH };
enum { AHEAD = HEIGHT == 2 ? (BREADTH == 2 ? 7 : 3) : 1 };
enum { COPIER_REGISTERS = MULTIPLIER_REGISTERS ? 40 : 0 };
#define TAIL (HEIGHT <= 8)
#define TILE_M (WARPS_DOWN * 4 * HEIGHT)
#define TILE_N (WARPS_ACROSS * 8 * BREADTH)
#define MULTIPLIERS (WARPS_DOWN * WARPS_ACROSS * 32)
#include "warp_block.h"

#include "stream.h"
#include "warp_roles.h"
static_assert(CAN_STREAM(TILE_M) && CAN_STREAM(TILE_N));

KERNEL_BOUNDED(warp_specialized, MULTIPLIERS + COPIERS, 1, GROUPS)(GEMM_ARGUMENTS) {
  LOCAL_ARENA(arena, STAGES * (PANEL_A + PANEL_B) * 4);
  LOCAL Barrier barriers[2 * STAGES];
  if (n % WIDTH != 0 || !is_wide(c + c_offset, c_row | c_batch, c_col)) flags |= SPREAD;
  multiply_by_roles(GEMM_PASSED, (LOCAL_POINTER T*)arena, barriers, (LOCAL_POINTER T*)arena);
}
