// Idea: exact products by sums and their bounds: panels of A and B become f64 on their way to local
// memory, a work-item keeps 4 x 4 sums in registers, and each is rounded once if its bound allows
// (certain.h); else it is marked for `one_by_one`. Sums of f32 are chains of f64, those of f64
// chains of pairs.
// Requires: f64, 256 work-items a group and 17 KiB of local memory.
//
//   C tile 64 x 64; work-item (x, y) has rows y, y + 16, … and columns x, x + 16, …
//   While a panel is multiplied, the next one's elements are on their way to registers.
#define PLAIN_READS
#include "certain.h"

#define SIDE 64
#define DEPTH 16
// Elements of each panel that a work-item copies, and rows and columns of C that it has.
#define EACH 4

// A panel's elements of this work-item, zeros beyond `extent` lanes and `depth` steps. Neighbouring
// work-items read along the operand's unit stride.
DEVICE void fetch(const GLOBAL T* x, long lane_stride, long step_stride, long extent, long depth,
                  int along_steps, int t, T* e) {
#pragma unroll
  for (int r = 0; r < EACH; ++r) {
    const int at = t + r * 256;
    const int lane = along_steps ? at / DEPTH : at % SIDE;
    const int l = along_steps ? at % DEPTH : at / SIDE;
    e[r] = lane < extent && l < depth ? x[lane * lane_stride + l * step_stride] : (T)0;
  }
}

// Steps lie SIDE + 1 apart: either way of copying falls on different banks.
DEVICE void widen(LOCAL_POINTER double* panel, int along_steps, int t, const T* e) {
#pragma unroll
  for (int r = 0; r < EACH; ++r) {
    const int at = t + r * 256;
    const int lane = along_steps ? at / DEPTH : at % SIDE;
    const int l = along_steps ? at % DEPTH : at / SIDE;
    panel[l * (SIDE + 1) + lane] = (double)e[r];
  }
}

#if T_double
// The base of a pair `u` rows and `v` columns from this work-item's first; 0 where there is none.
DEVICE double base_of(const Bounds* b, int u, int v, int rows, int cols, long depth) {
  if (u >= rows || v >= cols || depth == 0) return 0.0;
  return power_above(b->row[2 * u]) * power_above(b->col[2 * v]);
}
#endif

KERNEL_BOUNDED(bounded, 256, 1, 2)(GEMM_ARGUMENTS, BOUNDS_ARGUMENTS) {
  LOCAL double a_panel[DEPTH * (SIDE + 1)];
  LOCAL double b_panel[DEPTH * (SIDE + 1)];
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const int t = local_x(), x = t % 16, y = t / 16;
  const long i0 = (long)tile.row * SIDE, j0 = (long)tile.col * SIDE;
  const GLOBAL T* a_from = a + a_offset + tile.batch * a_batch + i0 * a_row;
  const GLOBAL T* b_from = b + b_offset + tile.batch * b_batch + j0 * b_col;
  const long depth = flags & MULTIPLY ? k : 0;
  const int a_along = a_col == 1, b_along = b_row == 1;

  await_earlier_launches();
  const int rows = m - i0 - y < SIDE ? (int)(m - i0 - y) : SIDE;  // from this work-item's first on
  const int cols = n - j0 - x < SIDE ? (int)(n - j0 - x) : SIDE;
  const Bounds bounds = bounds_of(BOUNDS_PASSED, m, n, tile.batch, i0 + y, j0 + x);
  double acc[EACH][EACH];
#if T_double
  double rest[EACH][EACH];
#endif
#pragma unroll
  for (int r = 0; r < EACH; ++r)
#pragma unroll
    for (int s = 0; s < EACH; ++s) {
#if T_double
      acc[r][s] = PAIR_BEGIN * base_of(&bounds, 16 * r, 16 * s, rows, cols, depth);
      rest[r][s] = 0.0;
#else
      acc[r][s] = 0.0;
#endif
    }

  T a_next[EACH], b_next[EACH];
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
        for (int s = 0; s < EACH; ++s)
#if T_double
          pair_add(&acc[r][s], &rest[r][s], row[r], col[s]);
#else
          acc[r][s] = fma(row[r], col[s], acc[r][s]);
#endif
    }
    sync();
  }

  c += c_offset + tile.batch * c_batch + (i0 + y) * c_row + (j0 + x) * c_col;
#pragma unroll
  for (int r = 0; r < EACH; ++r)
#pragma unroll
    for (int s = 0; s < EACH; ++s) {
      const int u = 16 * r, v = 16 * s;
      if (u >= rows || v >= cols) continue;
      GLOBAL T* const to = c + u * c_row + v * c_col;
      const T old = flags & ADD_C ? *to : (T)0;
      T result;
      if (!(flags & MULTIPLY)) {
        *to = scaled_alone(beta, old, flags);
        continue;
      }
#if T_double
      const double base = base_of(&bounds, u, v, rows, cols, depth);
      const bool certain = round_pair(acc[r][s] - PAIR_BEGIN * base, rest[r][s],
                                      pair_error(bounds.row + 2 * u, bounds.col + 2 * v, base, k),
                                      alpha, beta, old, flags, &result);
#else
      const bool certain =
          round_chain(acc[r][s], chain_error(bounds.row + 2 * u, bounds.col + 2 * v, bounds.slack),
                      alpha, beta, old, flags, &result);
#endif
      if (certain)
        *to = result;
      else
        mark(bounds.marks, bounds.bit + u * bounds.width + v);
    }
}
