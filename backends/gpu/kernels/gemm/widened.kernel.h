// Idea: products of f32 whose chains are f64: panels of A and B become f64 on their way to local
// memory, a work-item keeps 4 x 4 chains in registers, and each result is rounded to f32 once.
// Requires: f64, 256 work-items a group and 17 KiB of local memory.
//
//   C tile 64 x 64; work-item (x, y) has rows y, y + 16, … and columns x, x + 16, …
//   While a panel is multiplied, the next one's elements are on their way to registers.
//
// Each product is exact, and a sum that is zero is +0, so no chain is ever -0, and padding never
// shows.
#define T float
#define CHAIN double
#include "problem.h"

#define SIDE 64
#define DEPTH 16
// Elements of each panel that a work-item copies, and rows and columns of C that it has.
#define EACH 4

// A panel's elements of this work-item, zeros beyond `extent` lanes and `depth` steps. Neighbouring
// work-items read along the operand's unit stride.
DEVICE void fetch(const GLOBAL float* x, long lane_stride, long step_stride, long extent,
                  long depth, int along_steps, int t, float* e) {
#pragma unroll
  for (int r = 0; r < EACH; ++r) {
    const int at = t + r * 256;
    const int lane = along_steps ? at / DEPTH : at % SIDE;
    const int l = along_steps ? at % DEPTH : at / SIDE;
    e[r] = lane < extent && l < depth ? x[lane * lane_stride + l * step_stride] : 0.0f;
  }
}

// Steps lie SIDE + 1 apart: either way of copying falls on different banks.
DEVICE void widen(LOCAL_POINTER double* panel, int along_steps, int t, const float* e) {
#pragma unroll
  for (int r = 0; r < EACH; ++r) {
    const int at = t + r * 256;
    const int lane = along_steps ? at / DEPTH : at % SIDE;
    const int l = along_steps ? at % DEPTH : at / SIDE;
    panel[l * (SIDE + 1) + lane] = (double)e[r];
  }
}

KERNEL_BOUNDED(widened, 256, 1, 2)(GEMM_ARGUMENTS) {
  LOCAL double a_panel[DEPTH * (SIDE + 1)];
  LOCAL double b_panel[DEPTH * (SIDE + 1)];
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const int t = local_x(), x = t % 16, y = t / 16;
  const long i0 = (long)tile.row * SIDE, j0 = (long)tile.col * SIDE;
  const GLOBAL float* a_from = a + a_offset + tile.batch * a_batch + i0 * a_row;
  const GLOBAL float* b_from = b + b_offset + tile.batch * b_batch + j0 * b_col;
  const long depth = flags & MULTIPLY ? k : 0;
  const int a_along = a_col == 1, b_along = b_row == 1;

  double acc[EACH][EACH];
#pragma unroll
  for (int r = 0; r < EACH; ++r)
#pragma unroll
    for (int s = 0; s < EACH; ++s) acc[r][s] = 0.0;

  float a_next[EACH], b_next[EACH];
  fetch(a_from, a_row, a_col, m - i0, depth, a_along, t, a_next);
  fetch(b_from, b_col, b_row, n - j0, depth, b_along, t, b_next);
  for (long l0 = 0; l0 < depth; l0 += DEPTH) {
    widen(a_panel, a_along, t, a_next);
    widen(b_panel, b_along, t, b_next);
    sync();
    a_from += DEPTH * a_col;
    b_from += DEPTH * b_row;
    if (l0 + DEPTH < depth) {
      fetch(a_from, a_row, a_col, m - i0, depth - l0 - DEPTH, a_along, t, a_next);
      fetch(b_from, b_col, b_row, n - j0, depth - l0 - DEPTH, b_along, t, b_next);
    }
#pragma unroll
    for (int l = 0; l < DEPTH; ++l) {
      double row[EACH], col[EACH];
#pragma unroll
      for (int r = 0; r < EACH; ++r) {
        row[r] = a_panel[l * (SIDE + 1) + y + 16 * r];
        col[r] = b_panel[l * (SIDE + 1) + x + 16 * r];
      }
#pragma unroll
      for (int r = 0; r < EACH; ++r)
#pragma unroll
        for (int s = 0; s < EACH; ++s) acc[r][s] = fma(row[r], col[s], acc[r][s]);
    }
    sync();
  }

  c += c_offset + tile.batch * c_batch + (i0 + y) * c_row + (j0 + x) * c_col;
#pragma unroll
  for (int r = 0; r < EACH; ++r)
#pragma unroll
    for (int s = 0; s < EACH; ++s) {
      if (i0 + y + 16 * r >= m || j0 + x + 16 * s >= n) continue;
      finish(c + 16 * r * c_row + 16 * s * c_col, acc[r][s], alpha, beta, flags);
    }
}
