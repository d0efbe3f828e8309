// Idea: a group, of one to four warps, for each small product, or for each tile of a larger C: it
// copies its rows of A and columns of B as they are, and a lane multiplies up to 7 x 7 elements of
// C, whose rows and columns lie 4 and 8 apart; many groups share a multiprocessor.
// It beats `batched_small` because a read of local memory serves more multiply-adds, and copies
// walk over lines alone.
// Requires: k of at most 64.
#include "problem.h"

#define WARPS_DOWN (SIDE <= 32 ? 1 : 2)
#define WARPS_ACROSS \
  (SIDE <= 56 ? 1 : 2) /* 64: one warp's 64 sums a lane took 190 µs instead of 182 */
#define THREADS (32 * WARPS_DOWN * WARPS_ACROSS)
#define ROWS (SIDE / WARPS_DOWN / 4)
#define COLS (SIDE / WARPS_ACROSS / 8)
#define DEPTH SIDE
#define A_PITCH PITCH
#define B_PITCH PITCH
#include "small.h"

// Continues the chains by `steps` of k of this lane's rows of A and columns of B. Neighbours in k
// are read at once.
DEVICE void multiply_steps(T acc[ROWS][COLS], const LOCAL_POINTER T* a, const LOCAL_POINTER T* b,
                           const int steps, const bool a_by_lanes, const bool b_by_lanes) {
  const int a_step = STEP_OF(a_by_lanes, PITCH), a_lane = LANE_OF(a_by_lanes, PITCH);
  const int b_step = STEP_OF(b_by_lanes, PITCH), b_lane = LANE_OF(b_by_lanes, PITCH);
  T x[ROWS][WIDTH], y[COLS][WIDTH];
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
    if (a_by_lanes && steps == WIDTH)
      unpack(*(const LOCAL_POINTER VECTOR*)(a + r * 4 * a_lane), x[r]);
    else
#pragma unroll
      for (int l = 0; l < steps; ++l) x[r][l] = a[r * 4 * a_lane + l * a_step];
#pragma unroll
  for (int s = 0; s < COLS; ++s)
    if (b_by_lanes && steps == WIDTH)
      unpack(*(const LOCAL_POINTER VECTOR*)(b + s * 8 * b_lane), y[s]);
    else
#pragma unroll
      for (int l = 0; l < steps; ++l) y[s][l] = b[s * 8 * b_lane + l * b_step];
#pragma unroll
  for (int l = 0; l < steps; ++l)
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
      for (int s = 0; s < COLS; ++s) acc[r][s] = multiply_add(x[r][l], y[s][l], acc[r][s]);
}

// Continues the chains by `depth` steps of k.
INLINED void multiply(T acc[ROWS][COLS], const LOCAL_POINTER T* a, const LOCAL_POINTER T* b,
                      int depth, const bool a_by_lanes, const bool b_by_lanes) {
  const int a_step = STEP_OF(a_by_lanes, PITCH), b_step = STEP_OF(b_by_lanes, PITCH);
  int l = 0;
#pragma unroll 1
  for (; l + WIDTH <= depth; l += WIDTH, a += WIDTH * a_step, b += WIDTH * b_step)
    multiply_steps(acc, a, b, WIDTH, a_by_lanes, b_by_lanes);
#pragma unroll 1
  for (; l < depth; ++l, a += a_step, b += b_step)
    multiply_steps(acc, a, b, 1, a_by_lanes, b_by_lanes);
}

// Stores this lane's sums. `c` is the place of the first one; C has `rows` rows and `cols` columns
// from there on.
DEVICE void store_sums(GLOBAL T* c, long c_row, int rows, int cols, T acc[ROWS][COLS], T alpha,
                       T beta, const int flags) {
#pragma unroll
  for (int r = 0; r < ROWS; ++r, c += 4 * c_row)
#pragma unroll
    for (int s = 0; s < COLS; ++s)
      if (r * 4 < rows && s * 8 < cols) finish(c + s * 8, acc[r][s], alpha, beta, flags);
}

KERNEL_BOUNDED(small, THREADS, 1, SIDE <= 32 ? 16 : 512 / THREADS)(GEMM_ARGUMENTS) {
  LOCAL ALIGNED(16) T panels[2 * PANEL];
  const int warp = local_x() / 32, lane = local_x() % 32, depth = flags & MULTIPLY ? (int)k : 0;
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const long i0 = (long)tile.row * SIDE, j0 = (long)tile.col * SIDE;
  const int rows = extent_of(m, i0), cols = extent_of(n, j0);
  await_earlier_launches();
  if (depth > 0) {
    const PanelLoader a_loader =
        LOADER_A(panels, a + a_offset + tile.batch * a_batch + i0 * a_row, rows, depth);
    const PanelLoader b_loader =
        LOADER_B(panels + PANEL, b + b_offset + tile.batch * b_batch + j0 * b_col, cols, depth);
    COPY_A(&a_loader, 0);
    COPY_B(&b_loader, 0);
    commit_copies();
    await_copies(0);
  }
  sync();
  const int row = warp / WARPS_ACROSS * ROWS * 4 + lane / 8;
  const int col = warp % WARPS_ACROSS * COLS * 8 + lane % 8;
  T acc[ROWS][COLS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int s = 0; s < COLS; ++s) acc[r][s] = 0;
#define MULTIPLY_PANELS(a_by_lanes, b_by_lanes)            \
  multiply(acc, panels + row * LANE_OF(A_BY_LANES, PITCH), \
           panels + PANEL + col * LANE_OF(B_BY_LANES, PITCH), depth, a_by_lanes, b_by_lanes)
  MULTIPLY_BY_LAYOUT;
  // A C of several columns has unit stride along its rows (gemm_problem.hpp). Without a product,
  // acc is the sum of nothing, and its factor is 1.
  c += c_offset + tile.batch * c_batch + (i0 + row) * c_row + (j0 + col);
  const T factor = flags & MULTIPLY ? alpha : 1;
  if (flags & ADD_C)
    store_sums(c, c_row, rows - row, cols - col, acc, factor, beta, MULTIPLY | ADD_C);
  else
    store_sums(c, c_row, rows - row, cols - col, acc, factor, beta, MULTIPLY);
}
