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

// A work-item's share of an operand, EACH elements of a panel: its first one, as row or column and
// step, and how far apart they are; in memory; in the panel. Neighbouring work-items read along
// the operand's unit stride. Steps are SIDE + 1 apart in local memory, so that either way of
// copying uses different banks.
typedef struct Loader {
  const GLOBAL T* from;
  long apart, stage_stride;
  int first, first_apart, extent, step, step_apart, place, place_apart;
} Loader;

DEVICE Loader loader_of(const GLOBAL T* x, long stride, long step_stride, long extent, int t) {
  Loader f;
  const bool along_steps = step_stride == 1;
  f.first = along_steps ? t / DEPTH : t % SIDE, f.first_apart = along_steps ? 256 / DEPTH : 0;
  f.step = along_steps ? t % DEPTH : t / SIDE, f.step_apart = along_steps ? 0 : 256 / SIDE;
  f.extent = extent < SIDE ? (int)extent : SIDE;
  f.from = x + f.first * stride + f.step * step_stride;
  f.apart = f.first_apart * stride + f.step_apart * step_stride;
  f.stage_stride = DEPTH * step_stride;
  f.place = f.step * (SIDE + 1) + f.first;
  f.place_apart = f.step_apart * (SIDE + 1) + f.first_apart;
  return f;
}

// The elements of the next panel, zeros beyond the operand and `depth` steps.
DEVICE void fetch(Loader* f, long depth, T* e) {
  const int steps = depth < DEPTH ? (int)depth : DEPTH;
#pragma unroll
  for (int r = 0; r < EACH; ++r) {
    const bool inside =
        f->first + r * f->first_apart < f->extent && f->step + r * f->step_apart < steps;
    e[r] = inside ? f->from[r * f->apart] : (T)0;
  }
  f->from += f->stage_stride;
}

DEVICE void widen(LOCAL_POINTER double* panel, const Loader* f, const T* e) {
#pragma unroll
  for (int r = 0; r < EACH; ++r) panel[f->place + r * f->place_apart] = (double)e[r];
}

#if T_double
// The base of a pair `u` rows and `v` columns from this work-item's first; 0 where there is none.
DEVICE double base_of(const Bounds* b, int u, int v, int rows, int cols, long depth) {
  if (u >= rows || v >= cols || depth == 0) return 0.0;
  return power_above(b->row[2 * u]) * power_above(b->col[2 * v]);
}
#endif

// A pair takes twice a chain's registers.
KERNEL_BOUNDED(bounded, 256, 1, WIDTH / 2)(GEMM_ARGUMENTS, BOUNDS_ARGUMENTS) {
  LOCAL double a_panel[DEPTH * (SIDE + 1)];
  LOCAL double b_panel[DEPTH * (SIDE + 1)];
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const int t = local_x(), x = t % 16, y = t / 16;
  const long i0 = (long)tile.row * SIDE, j0 = (long)tile.col * SIDE;
  Loader a_loader =
      loader_of(a + a_offset + tile.batch * a_batch + i0 * a_row, a_row, a_col, m - i0, t);
  Loader b_loader =
      loader_of(b + b_offset + tile.batch * b_batch + j0 * b_col, b_col, b_row, n - j0, t);
  const long depth = flags & MULTIPLY ? k : 0;

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
  fetch(&a_loader, depth, a_next);
  fetch(&b_loader, depth, b_next);
  for (long l0 = 0; l0 < depth; l0 += DEPTH) {
    widen(a_panel, &a_loader, a_next);
    widen(b_panel, &b_loader, b_next);
    sync();
    fetch(&a_loader, depth - l0 - DEPTH, a_next);
    fetch(&b_loader, depth - l0 - DEPTH, b_next);
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
      const double high = acc[r][s] - PAIR_BEGIN * base;
      const double error = high == 0.0 && rest[r][s] == 0.0 && is_of_zeros(&bounds, u, v)
                               ? 0.0
                               : pair_error(bounds.row + 2 * u, bounds.col + 2 * v, base, k);
      const bool certain = round_pair(high, rest[r][s], error, alpha, beta, old, flags, &result);
#else
      const bool certain = round_chain(acc[r][s], chain_error(&bounds, u, v, acc[r][s]), alpha,
                                       beta, old, flags, &result);
#endif
      if (certain)
        *to = result;
      else
        mark(bounds.marks, bounds.bit + u * bounds.width + v);
    }
}
