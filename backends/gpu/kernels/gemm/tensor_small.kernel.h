// Only NVIDIA's compilers take this text.
// Idea: `small` with the f64 tensor cores, whose steps over k are the ascending chain of fused
// multiply-adds.
// It beats `batched_small` because a read of local memory serves up to ten times as many
// multiply-adds.
// Requires: NVIDIA, compute capability 9.0 or newer, and a passed self-check of that order; m, n
// and k of at most 64.
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

KERNEL_BOUNDED(tensor_small, THREADS, 1, 1)(GEMM_ARGUMENTS) {
  LOCAL_ARENA(arena, 2 * PANEL * 8);
  LOCAL_POINTER T* const a_panel = (LOCAL_POINTER T*)arena;
  LOCAL_POINTER T* const b_panel = a_panel + PANEL;
  const int t = local_x(), group = t % 32 / 4, quarter = t % 4, row = t / 32 * 16 + group;
  const int depth = flags & MULTIPLY ? (int)k : 0;
  const int a_pitch = pitch_of(A_BY_LANES ? a_row : a_col);
  const int b_pitch = pitch_of(B_BY_LANES ? b_col : b_row);
  if (depth > 0) {
    const PanelLoader a_loader = LOADER_A(a_panel, a + a_offset + group_x() * a_batch, depth);
    const PanelLoader b_loader = LOADER_B(b_panel, b + b_offset + group_x() * b_batch, depth);
#pragma unroll
    for (int p = 0; p < PARTS; ++p) {
      if (p * DEPTH < depth) {
        COPY_A(&a_loader, p * DEPTH);
        COPY_B(&b_loader, p * DEPTH);
      }
      commit_copies();
    }
    for (int i = t; i < (STEP - 1 - (depth - 1) % STEP) * SIDE; i += THREADS) {
      a_panel[(depth + i / SIDE) * A_STEP + i % SIDE * A_LANE] = 0;
      b_panel[(depth + i / SIDE) * B_STEP + i % SIDE * B_LANE] = 0;
    }
  }
  T acc[BLOCKS][4];
#pragma unroll
  for (int j = 0; j < BLOCKS; ++j) acc[j][0] = acc[j][1] = acc[j][2] = acc[j][3] = 0;
  const LOCAL_POINTER T* a_at = a_panel + quarter * A_STEP + row * A_LANE;
  const LOCAL_POINTER T* b_at = b_panel + quarter * B_STEP + group * B_LANE;
  const int next_rows = SIDE % 16 == 0 || row - group + 8 < SIDE ? 8 * A_LANE : 0;
#pragma unroll
  for (int p = 0; p < PARTS; ++p) {
    await_parts(PARTS - 1 - p);
    sync();
    const int end = row - group < m ? min(depth, (p + 1) * DEPTH) : 0;
#pragma unroll 1
    for (int l = p * DEPTH; l < end; l += STEP, a_at += STEP * A_STEP, b_at += STEP * B_STEP) {
      T x[4], y[BLOCKS][2];
#pragma unroll
      for (int e = 0; e < 4; ++e) x[e] = a_at[e / 2 * 4 * A_STEP + e % 2 * next_rows];
#pragma unroll
      for (int j = 0; j < BLOCKS; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) y[j][e] = b_at[e * 4 * B_STEP + j * 8 * B_LANE];
#pragma unroll
      for (int j = 0; j < BLOCKS; ++j) multiply_add_16x8x8(acc[j], x, y[j]);
    }
  }
  // A C of several columns has unit stride along its rows (gemm_problem.hpp).
  c += c_offset + group_x() * c_batch + row * c_row + quarter * 2;
  const bool wide = is_wide(c, c_row, 1);
#pragma unroll
  for (int e = 0; e < 4; e += 2, c += 8 * c_row)
#pragma unroll
    for (int j = 0; j < BLOCKS; ++j) {
      const int right = (int)n - quarter * 2 - j * 8;
      if (row + e * 4 >= m || right <= 0) continue;
      if (wide && right > 1) {
        finish_vector(c + j * 8, acc[j] + e, alpha, beta, flags);
      } else {
        finish(c + j * 8, acc[j][e], alpha, beta, flags);
        if (right > 1) finish(c + j * 8 + 1, acc[j][e + 1], alpha, beta, flags);
      }
    }
}

// --- Matrices without gaps whose lines have an odd number of elements
// --------------------------------- Copies and stores are of 16 bytes nevertheless (runs.h):
// sectors of C written in parts kept the L2 cache busy for 95 % of the time at 31 x 31. Zeros can't
// follow a line, so the last steps of k are looked up.

#undef A_STEP
#undef A_LANE
#undef B_STEP
#undef B_LANE
#define A_STEP (A_BY_LANES ? 1 : (int)m)
#define A_LANE (A_BY_LANES ? (int)k : 1)
#define B_STEP (B_BY_LANES ? 1 : (int)n)
#define B_LANE (B_BY_LANES ? (int)k : 1)

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

KERNEL_BOUNDED(tensor_small_runs, THREADS, 1, 1)(GEMM_ARGUMENTS) {
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
  const LOCAL_POINTER T* a_at = a_panel + head_of(a) + row * A_LANE;
  const LOCAL_POINTER T* b_at = b_panel + head_of(b);
  int left = row < m ? depth : 0;  // a warp below C helps to copy and to store
#pragma unroll 1
  for (; left >= STEP; left -= STEP, a_at += STEP * A_STEP, b_at += STEP * B_STEP)
    multiply_steps(acc, a_at, b_at, A_STEP, A_LANE, B_STEP, B_LANE, true, STEP, group, quarter);
  if (left > 0)
    multiply_steps(acc, a_at, b_at, A_STEP, A_LANE, B_STEP, B_LANE, false, left, group, quarter);
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
