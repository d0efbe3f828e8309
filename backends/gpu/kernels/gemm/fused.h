// Only NVIDIA's compilers take this text.
// How a warp finishes its block of a small tile of an exact product by itself (FUSED in
// tensor_specialized.kernel.h): the norms of its rows and columns from the fragments' squares, and
// the elements that its lanes left open, one after the other (one_element.h).
#pragma once
#include "one_element.h"

// A warp's own local memory, where panels have been.
typedef struct Own {
  double cols[8 * ACROSS_BLOCKS];
  double rows[16 * DOWN_BLOCKS];
  uint open[32];
  uint low[WORDS * COPIES], high[WORDS * COPIES];
  uint scaled_low[SCALED_WORDS], scaled_high[SCALED_WORDS];
  uint flags;
} Own;
static_assert(MULTIPLIERS / 32 * sizeof(Own) <= STAGES * (PANEL_A + PANEL_B) * sizeof(T));
static_assert(SUM_COLS * DOWN_BLOCKS <= 32);  // a lane's elements, a bit each

// The norms of a lane's rows, and of the warp's columns.
typedef struct Norms {
  double rows[2 * DOWN_BLOCKS];
  const LOCAL_POINTER double* cols;
} Norms;

DEVICE LOCAL_POINTER Own* own_of(LOCAL_POINTER T* lines) {
  sync_multipliers();
  return (LOCAL_POINTER Own*)lines + local_x() / 32;
}

// The norm from the squares of four neighbouring lanes.
DEVICE double norm_of_lanes(double squares) {
  squares += shuffle_xor_f64(squares, 1);
  squares += shuffle_xor_f64(squares, 2);
  return sqrt(squares) * 0x1.00001p0;
}

DEVICE Norms norms_of(CHAIN acc[ACC_ROWS][ACC_COLS], LOCAL_POINTER Own* own, int lane) {
  Norms n;
#pragma unroll
  for (int r = 0; r < 2 * DOWN_BLOCKS; ++r) {
    n.rows[r] = norm_of_lanes(acc[r / 2][SUM_COLS + r % 2]);
    if (lane % 4 == 0) own->rows[r * 8 + lane / 4] = n.rows[r];
  }
#pragma unroll
  for (int j = 0; j < ACROSS_BLOCKS; ++j) {
    const double norm = norm_of_lanes(acc[0][SUM_COLS + 2 + j]);
    if (lane % 4 == 0) own->cols[j * 8 + lane / 4] = norm;
  }
  n.cols = own->cols;
  sync_warp();
  return n;
}

// Computes the elements of the block at c whose bits lanes have in `open`.
DEVICE void compute_open(LOCAL_POINTER Own* own, uint open, const Operands* from, GLOBAL T* c,
                         long c_row, int lane, T alpha, T beta, int flags) {
  uint any = open;
  for (int mask = 16; mask > 0; mask /= 2) any |= shuffle_xor(any, mask);
  if (any == 0u) return;
  Team team;
  team.whole = false, team.lane = lane, team.size = 32, team.copies = EACH;
  team.low = own->low, team.high = own->high;
  team.scaled_low = own->scaled_low, team.scaled_high = own->scaled_high;
  team.flags = &own->flags, team.sums = own->cols;
  own->open[lane] = open;
  sync_warp();
#pragma unroll 1
  for (int l = 0; l < 32; ++l)
#pragma unroll 1
    for (uint bits = own->open[l]; bits; bits &= bits - 1u) {
      const int bit = 31 - clz(bits & (0u - bits)), pair = bit / 2;
      const int u = pair / ACROSS_BLOCKS * 8 + l / 4;
      const int v = pair % ACROSS_BLOCKS * 8 + l % 4 * 2 + bit % 2;
      GLOBAL T* const to = c + u * c_row + v;
      Element e;
      e.x = from->x + u * from->a_row, e.y = from->y + v * from->b_col;
      e.x_stride = from->a_col, e.y_stride = from->b_row, e.k = from->k;
      e.alpha = alpha, e.beta = beta, e.flags = flags;
      e.old = flags & ADD_C ? *to : (T)0;
      const double base = power_above(own->rows[u]) * power_above(own->cols[v]);
      const T result = element_of(&team, &e, base, pair_loss(base, e.k));
      sync_warp();
      if (lane == 0) *to = result;
    }
}
