// Only NVIDIA's compilers take this text.
// A tile of C by warps with two roles: COPIERS work-items only copy, MULTIPLIERS only multiply, and
// barriers that count arrivals keep STAGES stages of panels between them, DEPTH steps of k each.
//
//   full[s]: the copies of stage s have arrived        empty[s]: all MULTIPLIERS have read it
//   The last tiles of a row or column are shifted inwards, so that no copy looks up what is inside;
//   what two tiles compute, with the same bits, the first of them stores.
//
// The kernel says its constants. UNROLL steps of k stand in the loop's text, STEP at once;
// fragments are read AHEAD such reads before they are used. A group's registers move between its
// warps where COPIER_REGISTERS and MULTIPLIER_REGISTERS say how many. Two headers say the rest:
//   how panels are filled: PANEL_A, PANEL_B (elements), PanelLoader, LOADER_A, LOADER_B, COPY_A,
//   COPY_B; a warp's block: BLOCK_M x BLOCK_N, its ACC_ROWS x ACC_COLS sums and X_COUNT, Y_COUNT
//   elements of A and B a lane, FIRST_OF_A, FIRST_OF_B (where a lane's first lie), A_STEP, B_STEP
//   (from one step of k to the next), read_fragments, multiply_fragments, begin_block, store_block.
// MORE_ARGUMENTS are a kernel's behind GEMM_ARGUMENTS, MORE_OF_BLOCK what they are for store_block.
#include "barrier.h"
// END_CHAINS, if sums are added to others after CHAIN_STEPS steps of k.
#ifndef END_CHAINS
#define END_CHAINS (void)0
#endif
#ifndef CHAIN_STEPS
#define CHAIN_STEPS DEPTH
#endif
// TAIL 1: of a stage that k ends in, only the steps that there are.
#ifndef TAIL
#define TAIL 0
#endif
// FRAGMENT: the type of what is read ahead. TILE_DEPTH: a tile's steps of k.
#ifndef FRAGMENT
#define FRAGMENT T
#endif
#ifndef MORE_ARGUMENTS
#define MORE_ARGUMENTS
#define MORE_OF_BLOCK
#endif
#ifndef TILE_DEPTH
#define TILE_DEPTH k
#endif
// The registers that a work-item begins with, if GROUPS groups fit on a multiprocessor.
#define FIRST_REGISTERS (65536 / GROUPS / (MULTIPLIERS + COPIERS) / 8 * 8)
// Else TAKE_REGISTERS waits for ever.
static_assert(MULTIPLIERS * MULTIPLIER_REGISTERS + COPIERS * COPIER_REGISTERS <=
              (MULTIPLIERS + COPIERS) * FIRST_REGISTERS);
// PARTS: so many warps share the steps of a block, each with a stage in turn.
#ifndef PARTS
#define PARTS 1
#endif
static_assert(DEPTH % UNROLL == 0 && UNROLL % ((AHEAD + 1) * STEP) == 0 && PARTS <= STAGES);
// READ_FRAGMENTS may count what is read, if it is `used`, in SQUARE_COUNT numbers of a work-item.
#ifndef READ_FRAGMENTS
#define READ_FRAGMENTS(x, y, a, b, used) read_fragments(x, y, a, b)
#define SQUARE_COUNT 1
#endif

// The places in A and B of the first row and column that the tile needs.
#define TILE_OF_A (a + a_offset + (tile.batch * a_batch) + (i0 * a_row))
#define TILE_OF_B (b + b_offset + (tile.batch * b_batch) + (j0 * b_col))

// CONTINUED 1: chains begin at C, which is read while the first stages are on their way. Columns of
// C are neighbours, or there is one.
#define BLOCK_OF_C                                                                               \
  c + c_offset + (tile.batch * c_batch) + (i0 + row) * c_row + (j0 + col), c_row, i1 - i0 - row, \
      m - i0 - row, j1 - j0 - col, n - j0 - col

// If the copying warps have enough registers, places in local memory are kept in them. Else each
// stage computes where the group's local memory begins, and waits for the result.
#define COPIERS_PLACE(p) (COPIER_REGISTERS ? (p) : opaque_place(p))

// The stage that a warp uses, and the parity of the phase of its barriers.
typedef struct Stage {
  int index;
  uint parity;
} Stage;
DEVICE void next_stage(Stage* stage, const int by) {
  if ((stage->index += by) >= STAGES) stage->index -= STAGES, stage->parity ^= 1;
}

// A copying warp's work: `depth` steps of k, stage after stage.
DEVICE void copy_panels(PanelLoader* a, PanelLoader* b, LOCAL_POINTER T* arena,
                        LOCAL_POINTER Barrier* barriers, long depth, int u) {
  LOCAL_POINTER T* const to = COPIERS_PLACE(arena);
  LOCAL_POINTER Barrier* const full = COPIERS_PLACE(barriers);
  Stage stage = {0, 0};
  for (long left = depth; left > 0; left -= DEPTH) {
    wait_for(full + STAGES + stage.index, stage.parity ^ 1);
    COPY_A(a, to + stage.index * PANEL_A, left, u);
    COPY_B(b, to + STAGES * PANEL_A + stage.index * PANEL_B, left, u);
    arrive_when_copied(full + stage.index);
    next_stage(&stage, 1);
  }
  commit_copies();
  await_copies(0);
}

// A multiplying warp's work: its block += `depth` steps of k. first_a, first_b: a lane's first
// element in a panel.
DEVICE void multiply_panels(CHAIN acc[ACC_ROWS][ACC_COLS], float squares[SQUARE_COUNT],
                            const LOCAL_POINTER T* a_panel, LOCAL_POINTER Barrier* full,
                            int first_a, int first_b, long depth, int part) {
  const LOCAL_POINTER T* const b_panel = a_panel + STAGES * PANEL_A;
  const LOCAL_POINTER T* a_stage = a_panel + part * PANEL_A + first_a;
  const LOCAL_POINTER T* b_stage = b_panel + part * PANEL_B + first_b;
  FRAGMENT x[AHEAD + 1][X_COUNT], y[AHEAD + 1][Y_COUNT];
  Stage stage = {part, 0};
  const long first = depth - part * DEPTH;
  if (first > 0) {
    wait_for(&full[part], 0);
#pragma unroll
    for (int s = 0; s < AHEAD; ++s)
      READ_FRAGMENTS(x[s], y[s], a_stage + s * STEP * A_STEP, b_stage + s * STEP * B_STEP, true);
  }
  long left = first;
  for (; TAIL ? left >= DEPTH : left > 0; left -= PARTS * DEPTH)
#pragma unroll 1
    for (int chunk = 0; chunk < DEPTH / UNROLL; ++chunk)
#pragma unroll
      for (int l = 0; l < UNROLL; l += STEP) {
        if (l == UNROLL - AHEAD * STEP) {  // all of this chunk is on its way into registers
          if (chunk < DEPTH / UNROLL - 1) {
            a_stage += UNROLL * A_STEP;
            b_stage += UNROLL * B_STEP;
          } else {
            // Each lane arrives, because racecheck doesn't follow one lane that arrives for all.
            arrive(&full[STAGES + stage.index]);
            next_stage(&stage, PARTS);
            if (left > PARTS * DEPTH)
              wait_for(&full[stage.index], stage.parity);  // else nothing is used
            a_stage = a_panel + stage.index * PANEL_A + first_a;
            b_stage = b_panel + stage.index * PANEL_B + first_b;
          }
        }
        const int next = (l + AHEAD * STEP) % UNROLL, to = next / STEP % (AHEAD + 1);
        const int now = l / STEP % (AHEAD + 1);
        READ_FRAGMENTS(x[to], y[to], a_stage + next * A_STEP, b_stage + next * B_STEP,
                       next != 0 || chunk < DEPTH / UNROLL - 1 || left > PARTS * DEPTH);
        if (chunk == 0 && l == 0 &&
            (CHAIN_STEPS == DEPTH || (int)(first - left) % (CHAIN_STEPS * PARTS) == 0))
          END_CHAINS;
        multiply_fragments(acc, x[now], y[now]);
      }
#if TAIL
#pragma unroll 4
  for (int l = 0; l < (int)left; l += STEP) {
    READ_FRAGMENTS(x[0], y[0], a_stage + l * A_STEP, b_stage + l * B_STEP, true);
    multiply_fragments(acc, x[0], y[0]);
  }
#endif
  END_CHAINS;
}

// `barriers`: STAGES of `full`, then as many of `empty`; `lines`: local memory that the block's
// end may use, the arena or the group's own.
DEVICE void multiply_by_roles(GEMM_ARGUMENTS MORE_ARGUMENTS, LOCAL_POINTER T* arena,
                              LOCAL_POINTER Barrier* barriers, LOCAL_POINTER T* lines) {
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const long i1 = (long)tile.row * TILE_M,
             j1 = (long)tile.col * TILE_N;  // the first that it stores
  const long i0 = inwards(i1, m, TILE_M), j0 = inwards(j1, n, TILE_N);
  const long depth = flags & MULTIPLY ? TILE_DEPTH : 0;
  const int t = local_x();
  if (MULTIPLIER_REGISTERS) BEGIN_WITH_REGISTERS(FIRST_REGISTERS);
  if (t == 0)
    for (int s = 0; s < STAGES; ++s) {
      start_barrier(&barriers[s], COPIERS);
      start_barrier(&barriers[STAGES + s], MULTIPLIERS / PARTS);
    }
  sync();
  if (t >= MULTIPLIERS) {
    if (COPIER_REGISTERS) GIVE_REGISTERS(COPIER_REGISTERS);
    const int u = t - MULTIPLIERS;
    PanelLoader a_loader = LOADER_A(TILE_OF_A, m - i0, u);
    PanelLoader b_loader = LOADER_B(TILE_OF_B, n - j0, u);
    await_earlier_launches();
    copy_panels(&a_loader, &b_loader, arena, barriers, depth, u);
    return;
  }
  if (MULTIPLIER_REGISTERS) TAKE_REGISTERS(MULTIPLIER_REGISTERS);
  const int warp = t / 32, lane = t % 32;
  const int row = warp % WARPS_DOWN * BLOCK_M, col = warp / WARPS_DOWN % WARPS_ACROSS * BLOCK_N;
  const int part = warp / (WARPS_DOWN * WARPS_ACROSS);
  CHAIN acc[ACC_ROWS][ACC_COLS];
#pragma unroll
  for (int i = 0; i < ACC_ROWS; ++i)
#pragma unroll
    for (int j = 0; j < ACC_COLS; ++j) acc[i][j] = 0;
  float squares[SQUARE_COUNT];
#pragma unroll
  for (int i = 0; i < SQUARE_COUNT; ++i) squares[i] = 0.0f;
  await_earlier_launches();
#if CONTINUED
  if (flags & CONTINUE) begin_block(BLOCK_OF_C, acc, lane, flags);
#endif
  multiply_panels(acc, squares, arena, barriers, FIRST_OF_A(TILE_OF_A, row, lane),
                  FIRST_OF_B(TILE_OF_B, col, lane), depth, part);
  store_block(BLOCK_OF_C, acc, lines, lane, alpha, beta, flags MORE_OF_BLOCK);
}
