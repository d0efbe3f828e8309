// Only NVIDIA's compilers take this text.
// How a warp finishes its block of a small tile of an exact product by itself (FUSED in
// tensor_specialized.kernel.h): the norms of its rows and columns from the fragments' squares, and
// the elements that its lanes left open, one after the other (one_element.h).
#pragma once
#define LANES 32
#define WARPS 1
#include "one_element.h"

// A warp's own local memory.
typedef struct Own {
  double cols[8 * ACROSS_BLOCKS];
  double rows[16 * DOWN_BLOCKS];
  uint open[32];
  uint low[WORDS * COPIES], high[WORDS * COPIES];
  uint scaled_low[SCALED_WORDS], scaled_high[SCALED_WORDS];
  uint flags;
} Own;
#define OWN_BYTES              \
  (WARPS_DOWN * WARPS_ACROSS * \
   (sizeof(Own) + (PARTS - 1) * DOWN_BLOCKS * (ACC_COLS - TOTALS) * 32 * sizeof(CHAIN)))
static_assert(SUM_COLS * DOWN_BLOCKS <= 32);  // a lane's elements, a bit each

// At least the square root, within a thousandth: of a number that isn't negative, and is 0 or at
// least the least square of an f32.
DEVICE double root_above(double x) {
#if HAVE_PTX
  double inverse;
  __asm__("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(x < 0x1p-298 ? 0x1p-298 : x));
  return x * inverse * 0x1.001p0;
#else
  return sqrt(x) * 0x1.001p0;
#endif
}

// The norm from the squares of four neighbouring lanes.
DEVICE double norm_of_lanes(double squares) {
  squares += shuffle_xor_f64(squares, 1);
  squares += shuffle_xor_f64(squares, 2);
  return root_above(squares);
}

DEVICE Known known_of(CHAIN acc[ACC_ROWS][ACC_COLS], LOCAL_POINTER Own* own, int lane) {
  Known n;
#pragma unroll
  for (int r = 0; r < ROWS_OF_LANE; ++r) {
    n.rows[r] = norm_of_lanes(acc[r / 2][SQUARES + r % 2]);
    if (lane % 4 == 0) own->rows[r * 8 + lane / 4] = n.rows[r];
  }
#pragma unroll
  for (int j = 0; j < ACROSS_BLOCKS; ++j) {
    const double norm = norm_of_lanes(acc[0][SQUARES + 2 + j]);
    if (lane % 4 == 0) own->cols[j * 8 + lane / 4] = norm;
  }
  sync_warp();
#pragma unroll
  for (int q = 0; q < COLS_OF_LANE; ++q) n.cols[q] = own->cols[q / 2 * 8 + lane % 4 * 2 + q % 2];
  return n;
}

// A bit for each lane that says so.
DEVICE uint lanes_with(bool says) {
#if HAVE_PTX
  uint lanes;
  __asm__ volatile(
      "{\n\t.reg .pred says;\n\t"
      "setp.ne.u32 says, %1, 0;\n\t"
      "vote.sync.ballot.b32 %0, says, 0xffffffff;\n\t}"
      : "=r"(lanes)
      : "r"(says ? 1u : 0u));
  return lanes;
#else
  uint lanes = says ? 1u << (uint)(local_x() % 32) : 0u;
  for (int mask = 16; mask > 0; mask /= 2) lanes |= shuffle_xor(lanes, mask);
  return lanes;
#endif
}

// Computes the elements of the block at c whose bits lanes have in `open`.
DEVICE void compute_open(LOCAL_POINTER Own* own, uint open, const Operands* from, GLOBAL T* c,
                         long c_row, int lane, T alpha, T beta, int flags) {
  uint lanes = lanes_with(open != 0u);
  if (lanes == 0u) return;
  Team team;
  team.whole = false, team.lane = lane, team.size = 32, team.copies = EACH;
  team.low = own->low, team.high = own->high;
  team.scaled_low = own->scaled_low, team.scaled_high = own->scaled_high;
  team.flags = &own->flags, team.sums = own->cols;
  own->open[lane] = open;
  sync_warp();
#pragma unroll 1
  for (; lanes; lanes &= lanes - 1u) {
    const int l = first_bit(lanes);
#pragma unroll 1
    for (uint bits = own->open[l]; bits; bits &= bits - 1u) {
      const int bit = first_bit(bits);
      const int u = bit / COLS_OF_LANE * 8 + l / 4;
      const int v = bit % COLS_OF_LANE / 2 * 8 + l % 4 * 2 + bit % 2;
      GLOBAL T* const to = c + u * c_row + v;
      Element e;
      e.x = from->x + u * from->a_row, e.y = from->y + v * from->b_col;
      e.x_stride = from->a_col, e.y_stride = from->b_row, e.k = from->k;
      e.alpha = alpha, e.beta = beta, e.flags = flags;
      const double base = power_above(own->rows[u]) * power_above(own->cols[v]);
      store_element(&team, &e, base, pair_loss(base, e.k), to);
    }
  }
}
