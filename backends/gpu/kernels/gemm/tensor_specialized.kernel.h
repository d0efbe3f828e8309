// Only NVIDIA's compilers take this text.
// Idea: `warp_specialized` for f64 on the tensor cores, whose steps over k are the ascending chain
// of fused multiply-adds.
// It beats `register_tile` because one instruction does 1024 or 2048 multiply-adds, at twice the
// rate, and the multiplying warps issue almost nothing else but reads for the next one.
// Requires: f64; compute capability 9.0; a passed self-check of the tensor cores' order (mma.h);
// more than 48 KB of local memory.
//
//   C tile TILE_M x TILE_N; a warp computes DOWN_BLOCKS x ACROSS_BLOCKS blocks of 16 x 8, STEP
//   steps of k at once.
//
// T float is for numerics exact: the tensor cores' operands become f64 on their way from local
// memory, and a result is stored if the bound of its chain's error allows (certain.h). A stage has
// 32 steps of k then, with every tile. Where groups share the steps of a tile (k_all, not 0), each
// has k of them as its matrix of the batch, and chains go to the workspace (add_chains).
#define CHAIN double
#include "problem.h"
#if WIDTH == 4
#include "certain.h"
#define MORE_ARGUMENTS , BOUNDS_ARGUMENTS, long k_all
#define MORE_PASSED , BOUNDS_PASSED, k_all
#define MORE_OF_BLOCK \
  , bounds_of(BOUNDS_PASSED, m, n, tile.batch, i0 + row, j0 + col), k_all != 0 OPERANDS_OF_BLOCK
#define TILE_DEPTH (k_all != 0 && k_all - tile.batch * k < k ? k_all - tile.batch * k : k)
#else
#define MORE_ARGUMENTS
#define MORE_PASSED
#define MORE_OF_BLOCK
#endif

// The host's table of tiles (gemm_tiles.hpp) has the constants.
// ODD: the form for rows of A, B or C that are an odd number of elements apart; even ones are 0 to
// 2.6 % faster without it.
#define ODD_ROWS ODD
// DEEP: tiles for long k, of single blocks, whose multiplying warps must wait for nothing but the
// instruction before.
#define DEEP (STEPS > 32)
enum { DEPTH = WIDTH == 4 ? 32 : STEPS, UNROLL = DEPTH, AHEAD = DEEP ? 3 : 1 };
enum { COPIERS = 128 };
// Exact products take 8 steps at once, because their totals need the registers.
#define STEP (WIDTH == 4 ? 8 : DEEP ? 16 : STEPS / 2)
// HALF: a block has 8 rows, and the instruction's others are zero. It brings half of A to a
// multiprocessor, and more of them have a tile.
#define TILE_M (WARPS_DOWN * (HALF ? 8 : 16) * DOWN_BLOCKS)
#define TILE_N (WARPS_ACROSS * 8 * ACROSS_BLOCKS)
// With 24 registers, the copies of odd rows by tiles up to 64x64 would spill. Even rows have 40 in
// 32x32 alone, whose multiplying warps leave that many.
#define COPIER_REGISTERS \
  (MULTIPLIER_REGISTERS == 0 ? 0 : TILE_M * TILE_N <= (ODD ? 4096 : 1024) ? 40 : 24)
// Panels that aren't whole are copied in counted rounds (tensor_panel.h) by the tiles that are
// faster so.
#define COUNTED_ROWS (COPIER_REGISTERS == 0 && TILE_M > 16)
#define MULTIPLIERS (PARTS * WARPS_DOWN * WARPS_ACROSS * 32)
// Exact products by small tiles are one launch: warps add up the squares of their rows and columns
// as well, and finish all elements (certain_block.h). Large tiles have launches beside them, and
// mark what isn't certain (marked_block.h).
#if WIDTH == 4 && 128 * WARPS_DOWN * DOWN_BLOCKS * WARPS_ACROSS * ACROSS_BLOCKS <= 4608
#define FUSED 1
#define OPERANDS_OF_BLOCK                                                                       \
  ,                                                                                             \
      operands_of(TILE_OF_A + row * a_row, TILE_OF_B + col * b_col, a_row, a_col, b_row, b_col, \
                  depth),                                                                       \
      squares, arena, row, col
#else
#define FUSED 0
#define OPERANDS_OF_BLOCK
#endif
// Chains of exact products end after some steps of a warp, because the bound of their errors grows
// with their steps: more sums would be open, which cost more where FUSED.
#define CHAINS_END (WIDTH == 4)
#define CHAIN_STEPS (FUSED ? 32 : 128)
// Operands become f64 as they are read, or as they are multiplied where registers are short.
#if FUSED
#define FRAGMENT CHAIN
#else
#define FRAGMENT T
#endif
#include "tensor_block.h"
#if FUSED
#include "certain_block.h"
#elif WIDTH == 4
#include "marked_block.h"
#endif
#include "warp_roles.h"

KERNEL_BOUNDED(tensor_specialized, MULTIPLIERS + COPIERS, 1, GROUPS)
(GEMM_ARGUMENTS MORE_ARGUMENTS) {
  LOCAL_ARENA(arena, STAGES * (PANEL_A + PANEL_B) * (16 / WIDTH));
  LOCAL Barrier barriers[2 * STAGES];
#if FUSED
  LOCAL ALIGNED(16) uchar ends[ENDS_BYTES];
#else
  LOCAL_POINTER uchar* const ends = arena;
#endif
  flags |= ODD_FLAGS;
  multiply_by_roles(GEMM_PASSED MORE_PASSED, (LOCAL_POINTER T*)arena, barriers,
                    (LOCAL_POINTER T*)ends);
}
