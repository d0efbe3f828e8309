// A tile of C by warps with two roles: COPIERS work-items only copy, MULTIPLIERS only multiply, and
// barriers that count arrivals keep STAGES stages of panels between them, DEPTH steps of k each.
//
//   full[s]: the copies of stage s have arrived        empty[s]: all MULTIPLIERS have read it
//   The last tiles of a row or column are shifted inwards, so that no copy looks up what is inside;
//   what two tiles compute, with the same bits, the first of them stores.
//
// The kernel says its constants. UNROLL steps of k stand in the loop's text, STEP at once; fragments
// are read AHEAD such reads before they are used. A group's registers move between its warps where
// KEEP and WANT say how many. Two headers say the rest:
//   how panels are filled: PANEL_A, PANEL_B (elements), Feed, FEED_A, FEED_B, COPY_A, COPY_B;
//   a warp's block: BLOCK_M x BLOCK_N, its ACC_ROWS x ACC_COLS sums and X_COUNT, Y_COUNT elements of
//   A and B a lane, FIRST_OF_A, FIRST_OF_B (where a lane's first lie), A_STEP, B_STEP (from one step
//   of k to the next), read_fragments, multiply_fragments, begin_block, store_block.
#include "barrier.h"
// What a work-item's registers are to begin with, if GROUPS groups fit on a multiprocessor.
#define FIRST_REGISTERS (65536 / GROUPS / (MULTIPLIERS + COPIERS) / 8 * 8)
// Else TAKE_REGISTERS waits for ever.
static_assert(MULTIPLIERS * WANT + COPIERS * KEEP <= (MULTIPLIERS + COPIERS) * FIRST_REGISTERS);
static_assert(DEPTH % UNROLL == 0 && UNROLL % ((AHEAD + 1) * STEP) == 0);

// CUT 1: each of the first `cut` tiles is computed by two groups, a head that does its first stages and leaves the sums as
// they are, and a tail that goes on from there, so the chains are those of one group. Tiles that fill no round of groups
// then fill a part of one. The grid is
//   heads, the shortest first | whole tiles | tails, the longest first
// and groups begin in this order, each where the first of those before it ends. So places end at about the same time,
// and a tail, which awaits its head's sums, begins after all heads. CUDA doesn't promise that groups begin in order;
// docs/decisions/tiles-in-two-parts.md says why we rely on it.
#if CUT
#define CUT_ARGUMENTS \
  , GLOBAL uint *flags_of_heads, long first_flag, GLOBAL T *sums_of_heads, long first_sum, int cut
#define CUT_PASSED , flags_of_heads, first_flag, sums_of_heads, first_sum, cut
static_assert(ACC_COLS % WIDTH == 0 && MULTIPLIERS == 8 * 32);  // so many flags a tile has the host

// A work-item's sums, vectors side by side with those of its neighbours.
DEVICE void keep_sums(GLOBAL VECTOR* to, T acc[ACC_ROWS][ACC_COLS]) {
#pragma unroll
  for (int i = 0; i < ACC_ROWS; ++i)
#pragma unroll
    for (int e = 0; e < ACC_COLS; e += WIDTH, to += MULTIPLIERS) *to = pack(acc[i] + e);
}
DEVICE void take_sums(const GLOBAL VECTOR* from, T acc[ACC_ROWS][ACC_COLS]) {
#pragma unroll
  for (int i = 0; i < ACC_ROWS; ++i)
#pragma unroll
    for (int e = 0; e < ACC_COLS; e += WIDTH, from += MULTIPLIERS) unpack(*from, acc[i] + e);
}
#else
#define CUT_ARGUMENTS
#define CUT_PASSED
#endif

// What the tile takes of A and B, from step `first` of k on.
#define OF_A (a + a_offset + (tile.batch * a_batch) + (i0 * a_row) + (first * a_col))
#define OF_B (b + b_offset + (tile.batch * b_batch) + (j0 * b_col) + (first * b_row))

// CONTINUED 1: chains begin at C, which is read while the first stages are on their way. Columns of C are neighbours,
// or there is one.
#define BLOCK_OF_C                                                                               \
  c + c_offset + (tile.batch * c_batch) + (i0 + row) * c_row + (j0 + col), c_row, i1 - i0 - row, \
      m - i0 - row, j1 - j0 - col, n - j0 - col

// Where the copying warps have registers enough, places in local memory are kept in them. Else each stage asks where the
// group's local memory begins, and waits for the answer.
#define PLACE_KEPT(p) (KEEP ? (p) : keep_place(p))

// `barriers`: 2 STAGES of them; `lines`: local memory that store_block may use, a warp's own or (tensor_block.h) the arena.
DEVICE void multiply_by_roles(GEMM_ARGUMENTS CUT_ARGUMENTS, LOCAL_POINTER T* arena,
                              LOCAL_POINTER Barrier* barriers, LOCAL_POINTER T* lines) {
  LOCAL_POINTER Barrier* const full = barriers;
  LOCAL_POINTER Barrier* const empty = barriers + STAGES;
  LOCAL_POINTER T* const a_panel = arena;
  LOCAL_POINTER T* const b_panel = a_panel + STAGES * PANEL_A;
#if CUT
  const int group = group_x(), tiles = groups_x() - cut;
  const bool is_head = group < cut, is_tail = group >= tiles;
  const int index = is_tail ? group - tiles : group;
#else
  const int index = group_x();
#endif
  const Tile tile = tile_of(index, tiles_m, tiles_n);
  const long i1 = (long)tile.row * TILE_M, j1 = (long)tile.col * TILE_N;  // of what it stores
  const long i0 = inwards(i1, m, TILE_M), j0 = inwards(j1, n, TILE_N);
  const long steps = flags & MULTIPLY ? k : 0;
#if CUT
  // Where the head ends and the tail begins.
  const long middle = (steps + DEPTH - 1) / DEPTH * (index + 1) / (cut + 1) * DEPTH;
  const long first = is_tail ? middle : 0, depth = (is_head ? middle : steps) - first;
#else
  const long first = 0, depth = steps;
#endif
  const int t = local_x();
  if (WANT) BEGIN_WITH_REGISTERS(FIRST_REGISTERS);
  if (t == 0)
    for (int s = 0; s < STAGES; ++s) {
      start_barrier(&full[s], COPIERS);
      start_barrier(&empty[s], MULTIPLIERS);
    }
  sync();
  int stage = 0;
  uint parity = 0;
  if (t >= MULTIPLIERS) {
    if (KEEP) GIVE_REGISTERS(KEEP);
    const int u = t - MULTIPLIERS;
    Feed a_feed = FEED_A(OF_A, m - i0, u);
    Feed b_feed = FEED_B(OF_B, n - j0, u);
    await_earlier_launches();
    LOCAL_POINTER T* const to = PLACE_KEPT(arena);
    LOCAL_POINTER Barrier* const at = PLACE_KEPT(barriers);
    for (long left = depth; left > 0; left -= DEPTH) {
      wait_for(at + STAGES + stage, parity ^ 1);
      COPY_A(&a_feed, to + stage * PANEL_A, left, u);
      COPY_B(&b_feed, to + STAGES * PANEL_A + stage * PANEL_B, left, u);
      arrive_when_copied(at + stage);
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    commit_copies();
    await_copies(0);
  } else {
    if (WANT) TAKE_REGISTERS(WANT);
    const int warp = t / 32, lane = t % 32;
    const int row = warp % WARPS_DOWN * BLOCK_M, col = warp / WARPS_DOWN * BLOCK_N;
    CHAIN acc[ACC_ROWS][ACC_COLS], x[AHEAD + 1][X_COUNT], y[AHEAD + 1][Y_COUNT];
#pragma unroll
    for (int i = 0; i < ACC_ROWS; ++i)
#pragma unroll
      for (int j = 0; j < ACC_COLS; ++j) acc[i][j] = 0;
    await_earlier_launches();
#if CONTINUED
    if (flags & CONTINUE) begin_block(BLOCK_OF_C, acc, lane, flags);
#endif
#if CUT
    GLOBAL uint* const flag = flags_of_heads + first_flag + index * (MULTIPLIERS / 32) + warp;
    GLOBAL VECTOR* const sums =
        (GLOBAL VECTOR*)(sums_of_heads + first_sum + (long)index * (TILE_M * TILE_N)) + t;
    if (is_tail) {
      if (lane == 0) await_flag(flag);
      sync_warp();
      take_sums(sums, acc);
    }
#endif

    const LOCAL_POINTER T* a_stage = a_panel + FIRST_OF_A(OF_A, row, lane);
    const LOCAL_POINTER T* b_stage = b_panel + FIRST_OF_B(OF_B, col, lane);
    if (depth > 0) {
      wait_for(&full[0], 0);
#pragma unroll
      for (int s = 0; s < AHEAD; ++s)
        read_fragments(x[s], y[s], a_stage + s * STEP * A_STEP, b_stage + s * STEP * B_STEP);
    }
    for (long left = depth; left > 0; left -= DEPTH)
#pragma unroll 1
      for (int part = 0; part < DEPTH / UNROLL; ++part)
#pragma unroll
        for (int l = 0; l < UNROLL; l += STEP) {
          if (l == UNROLL - AHEAD * STEP) {  // all of this part is on its way into registers
            if (part < DEPTH / UNROLL - 1) {
              a_stage += UNROLL * A_STEP;
              b_stage += UNROLL * B_STEP;
            } else {
              arrive(&empty[stage]);  // each lane: racecheck doesn't follow one that speaks for all
              if (++stage == STAGES) stage = 0, parity ^= 1;
              if (left > DEPTH) wait_for(&full[stage], parity);  // else what is read isn't used
              a_stage = a_panel + stage * PANEL_A + FIRST_OF_A(OF_A, row, lane);
              b_stage = b_panel + stage * PANEL_B + FIRST_OF_B(OF_B, col, lane);
            }
          }
          const int next = (l + AHEAD * STEP) % UNROLL, to = next / STEP % (AHEAD + 1);
          const int now = l / STEP % (AHEAD + 1);
          read_fragments(x[to], y[to], a_stage + next * A_STEP, b_stage + next * B_STEP);
          multiply_fragments(acc, x[now], y[now]);
        }

#if CUT
    if (is_head) {
      keep_sums(sums, acc);
      sync_warp();
      if (lane == 0) raise_flag(flag);
      return;
    }
#endif
    store_block(BLOCK_OF_C, acc, lines, lane, alpha, beta, flags);
  }
}
