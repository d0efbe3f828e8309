// Only NVIDIA's compilers take this text.
// Idea: `small` with the f64 tensor cores, whose steps over k are the ascending chain of fused
// multiply-adds.
// It beats `batched_small` because a read of local memory serves up to ten times as many
// multiply-adds.
// Requires: NVIDIA, compute capability 9.0 or newer, and a passed self-check of that order; k of at
// most 64.
//
// A warp computes 16 rows of C as SIDE / 8 blocks of 16 x 8 (mma.h); zeros fill the last 8 steps of
// k. Elements that it reads beyond the rows of A are another row's and go into rows that C hasn't.
// Beyond SIDE it reads its first 8 rows twice, because the next part's copies may be on their way
// to the memory there.
#include "problem.h"

#define WARPS ((SIDE + 15) / 16)
#define THREADS (32 * WARPS)
#define BLOCKS (SIDE / 8)
#define STEP 8
#define DEPTH (SIDE <= 40 ? SIDE : 16)
#define A_PITCH a_pitch
#define B_PITCH b_pitch
#include "mma.h"
#include "runs.h"
#include "small.h"

// Lines that are an odd number of 16 bytes apart in memory are so in local memory, too: a sector of
// 32 bytes whose halves went to different sectors would be fetched twice.
DEVICE int pitch_of(long line) { return line % 4 == 2 ? PITCH - 2 : PITCH; }

// Waits for all parts but the youngest `young`, which is a constant.
DEVICE void await_parts(const int young) {
  if (young == 0) await_copies(0);
  if (young == 1) await_copies(1);
  if (young == 2) await_copies(2);
  if (young == 3) await_copies(3);
}

// Continues the chains by the steps of k from `begin` to `end`. `next`: a warp's rows 8 to 15
// exist.
INLINED void multiply_part(T acc[BLOCKS][4], const LOCAL_POINTER T* a, const LOCAL_POINTER T* b,
                           int begin, int end, int a_pitch, int b_pitch, bool next,
                           const bool a_by_lanes, const bool b_by_lanes) {
  const int a_step = STEP_OF(a_by_lanes, a_pitch), a_lane = LANE_OF(a_by_lanes, a_pitch);
  const int b_step = STEP_OF(b_by_lanes, b_pitch), b_lane = LANE_OF(b_by_lanes, b_pitch);
  const int next_rows = SIDE % 16 == 0 || next ? 8 * a_lane : 0;
  a += begin * a_step;
  b += begin * b_step;
#pragma unroll 1
  for (int l = begin; l < end; l += STEP, a += STEP * a_step, b += STEP * b_step) {
    T x[4], y[BLOCKS][2];
#pragma unroll
    for (int e = 0; e < 4; ++e) x[e] = a[e / 2 * 4 * a_step + e % 2 * next_rows];
#pragma unroll
    for (int j = 0; j < BLOCKS; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) y[j][e] = b[e * 4 * b_step + j * 8 * b_lane];
#pragma unroll
    for (int j = 0; j < BLOCKS; ++j) multiply_add_16x8x8(acc[j], x, y[j]);
  }
}

// Groups that a multiprocessor must hold, which bounds the registers.
#define LEAST_GROUPS (SIDE <= 32 ? 384 / SIDE : SIDE == 40 ? 8 : 1)

KERNEL_BOUNDED(tensor_small, THREADS, 1, LEAST_GROUPS)(GEMM_ARGUMENTS) {
  LOCAL_ARENA(arena, 2 * PANEL * 8);
  LOCAL_POINTER T* const a_panel = (LOCAL_POINTER T*)arena;
  LOCAL_POINTER T* const b_panel = a_panel + PANEL;
  const int t = local_x(), group = t % 32 / 4, quarter = t % 4, row = t / 32 * 16 + group;
  const int depth = flags & MULTIPLY ? (int)k : 0;
  const int a_pitch = pitch_of(A_BY_LANES ? a_row : a_col);
  const int b_pitch = pitch_of(B_BY_LANES ? b_col : b_row);
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const long i0 = (long)tile.row * SIDE, j0 = (long)tile.col * SIDE;
  const int rows = extent_of(m, i0), cols = extent_of(n, j0);
  if (depth > 0) {
    const PanelLoader a_loader =
        LOADER_A(a_panel, a + a_offset + tile.batch * a_batch + i0 * a_row, rows, depth);
    const PanelLoader b_loader =
        LOADER_B(b_panel, b + b_offset + tile.batch * b_batch + j0 * b_col, cols, depth);
#pragma unroll
    for (int p = 0; p < PARTS; ++p) {
      if (p * DEPTH < depth) {
        COPY_A(&a_loader, p * DEPTH);
        COPY_B(&b_loader, p * DEPTH);
      }
      commit_copies();
    }
    for (int i = t; i < (STEP - 1 - (depth - 1) % STEP) * SIDE; i += THREADS) {
      const int step = depth + i / SIDE, lane = i % SIDE;
      a_panel[step * STEP_OF(A_BY_LANES, a_pitch) + lane * LANE_OF(A_BY_LANES, a_pitch)] = 0;
      b_panel[step * STEP_OF(B_BY_LANES, b_pitch) + lane * LANE_OF(B_BY_LANES, b_pitch)] = 0;
    }
  }
  T acc[BLOCKS][4];
#pragma unroll
  for (int j = 0; j < BLOCKS; ++j) acc[j][0] = acc[j][1] = acc[j][2] = acc[j][3] = 0;
  const LOCAL_POINTER T* const a_at =
      a_panel + quarter * STEP_OF(A_BY_LANES, a_pitch) + row * LANE_OF(A_BY_LANES, a_pitch);
  const LOCAL_POINTER T* const b_at =
      b_panel + quarter * STEP_OF(B_BY_LANES, b_pitch) + group * LANE_OF(B_BY_LANES, b_pitch);
#pragma unroll
  for (int p = 0; p < PARTS; ++p) {
    await_parts(PARTS - 1 - p);
    sync();
    const int begin = p * DEPTH, end = row - group < rows ? min(depth, begin + DEPTH) : 0;
#define MULTIPLY_PANELS(a_by_lanes, b_by_lanes)                                                    \
  multiply_part(acc, a_at, b_at, begin, end, a_pitch, b_pitch, row - group + 8 < SIDE, a_by_lanes, \
                b_by_lanes)
    MULTIPLY_BY_LAYOUT;
#undef MULTIPLY_PANELS
  }
  // A C of several columns has unit stride along its rows (gemm_problem.hpp).
  c += c_offset + tile.batch * c_batch + (i0 + row) * c_row + (j0 + quarter * 2);
  const bool wide = is_wide(c, c_row, 1);
#pragma unroll
  for (int e = 0; e < 4; e += 2, c += 8 * c_row)
#pragma unroll
    for (int j = 0; j < BLOCKS; ++j) {
      const int right = cols - quarter * 2 - j * 8;
      if (row + e * 4 >= rows || right <= 0) continue;
      if (wide && right > 1) {
        finish_vector(c + j * 8, acc[j] + e, alpha, beta, flags);
      } else {
        finish(c + j * 8, acc[j][e], alpha, beta, flags);
        if (right > 1) finish(c + j * 8 + 1, acc[j][e + 1], alpha, beta, flags);
      }
    }
}

// --- Matrices without gaps whose lines have an odd number of elements ---------------------------

// Copies and stores are of 16 bytes nevertheless (runs.h): sectors of C written in parts kept the
// L2 cache busy for 95 % of the time at 31 x 31. Zeros can't follow a line, so the last steps of k
// are looked up.

// Continues the chains by STEP steps of k, of which `left` exist; all of them if `whole`.
DEVICE void multiply_steps(T acc[BLOCKS][4], const LOCAL_POINTER T* a, const LOCAL_POINTER T* b,
                           int a_step, int a_lane, int b_step, int b_lane, const bool whole,
                           int left, int group, int quarter) {
  T x[4], y[BLOCKS][2];
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int step = quarter + e / 2 * 4;
    x[e] = whole || step < left ? a[step * a_step + spread_row(group + e % 2 * 8) * a_lane] : 0;
  }
#pragma unroll
  for (int j = 0; j < BLOCKS; ++j)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int step = quarter + e * 4;
      y[j][e] = whole || step < left ? b[step * b_step + spread_col(group, j) * b_lane] : 0;
    }
#pragma unroll
  for (int j = 0; j < BLOCKS; ++j) multiply_add_16x8x8(acc[j], x, y[j]);
}

// Continues the chains by `left` steps of k. The operands' lines have `a_pitch` and `b_pitch`
// elements.
INLINED void multiply_runs(T acc[BLOCKS][4], const LOCAL_POINTER T* a, const LOCAL_POINTER T* b,
                           int left, int a_pitch, int b_pitch, int group, int quarter,
                           const bool a_by_lanes, const bool b_by_lanes) {
  const int a_step = STEP_OF(a_by_lanes, a_pitch), a_lane = LANE_OF(a_by_lanes, a_pitch);
  const int b_step = STEP_OF(b_by_lanes, b_pitch), b_lane = LANE_OF(b_by_lanes, b_pitch);
#pragma unroll 1
  for (; left >= STEP; left -= STEP, a += STEP * a_step, b += STEP * b_step)
    multiply_steps(acc, a, b, a_step, a_lane, b_step, b_lane, true, STEP, group, quarter);
  if (left > 0)
    multiply_steps(acc, a, b, a_step, a_lane, b_step, b_lane, false, left, group, quarter);
}

KERNEL_BOUNDED(tensor_small_runs, THREADS, 1, SIDE <= 32 ? 384 / SIDE : 1)(GEMM_ARGUMENTS) {
  LOCAL_ARENA(arena, 2 * PANEL * 8);
  LOCAL_POINTER T* const a_panel = (LOCAL_POINTER T*)arena;
  LOCAL_POINTER T* const b_panel = a_panel + PANEL;
  const int t = local_x(), group = t % 32 / 4, quarter = t % 4, row = t / 32 * 16;
  const int depth = flags & MULTIPLY ? (int)k : 0, pitch = (int)n;
  a += a_offset + group_x() * a_batch;
  b += b_offset + group_x() * b_batch;
  c += c_offset + group_x() * c_batch;
  if (depth > 0) {
    copy_run(a_panel, a, (int)(m * k));
    copy_run(b_panel, b, (int)(k * n));
    commit_copies();
    await_copies(0);
  }
  sync();
  T acc[BLOCKS][4];
#pragma unroll
  for (int j = 0; j < BLOCKS; ++j) acc[j][0] = acc[j][1] = acc[j][2] = acc[j][3] = 0;
  const int a_pitch = (int)(A_BY_LANES ? k : m), b_pitch = (int)(B_BY_LANES ? k : n);
  const int left = row < m ? depth : 0;  // a warp below C helps to copy and to store
#define MULTIPLY_PANELS(a_by_lanes, b_by_lanes)                                           \
  multiply_runs(acc, a_panel + head_of(a) + row * LANE_OF(A_BY_LANES, a_pitch),           \
                b_panel + head_of(b), left, a_pitch, b_pitch, group, quarter, a_by_lanes, \
                b_by_lanes)
  MULTIPLY_BY_LAYOUT;
  sync();
  LOCAL_POINTER T* const sums = a_panel + head_of(c);
#pragma unroll
  for (int e = 0; e < 4; ++e)
#pragma unroll
    for (int j = 0; j < BLOCKS; ++j) {
      const int u = row + spread_row(group + e / 2 * 8), v = spread_col(quarter * 2 + e % 2, j);
      if (u < m && v < n) sums[u * pitch + v] = acc[j][e];
    }
  sync();
  store_run(c, a_panel, (int)m * pitch, alpha, beta, flags);
}
