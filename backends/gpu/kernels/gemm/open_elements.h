// Only NVIDIA's compilers take this text.
// How a warp computes the elements of its part of a tile that no bound made certain
// (certain_block.h), one after the other (one_element.h). Where they are many, it looks first for
// what makes them certain: zeros, and numbers of few bits.
#pragma once
#define LANES 32
#define WARPS 1

#include "norm_of.h"
#include "one_element.h"

// Where elements of C come from: the places of the first row of A and column of B.
typedef struct Operands {
  const GLOBAL T *x, *y;
  long a_row, a_col, b_row, b_col, k;
} Operands;

DEVICE Operands operands_of(const GLOBAL T* x, const GLOBAL T* y, long a_row, long a_col,
                            long b_row, long b_col, long k) {
  Operands o;
  o.x = x, o.y = y;
  o.a_row = a_row, o.a_col = a_col, o.b_row = b_row, o.b_col = b_col, o.k = k;
  return o;
}

// A row or column: its norm, ratio and mask (certain.h).
typedef struct Line {
  double norm, ratio;
  ulong mask;
} Line;
// A warp's own local memory.
typedef struct Own {
  Line rows[8 * ROWS_OF_LANE], cols[8 * OWN_BLOCKS];
  uint open[32];
  uint low[WORDS * COPIES], high[WORDS * COPIES];
  uint scaled_low[SCALED_WORDS], scaled_high[SCALED_WORDS];
  uint flags;
} Own;

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

// Are there open elements in so many lanes that it pays to know the part's lines?
DEVICE bool are_many(uint open) {
  enum { FEW = 7 };
  uint lanes = lanes_with(open != 0u);
#pragma unroll
  for (int i = 0; i < FEW; ++i) lanes &= lanes - 1u;
  return lanes != 0u;
}

// Finds out about lines from x on: their ratios and masks and, unless has_norms, their norms. Lanes
// have steps beside each other where these lie so, else a line each. 16 elements are on their way.
DEVICE void know_side(LOCAL_POINTER Line* to, const GLOBAL T* x, long line_stride, long stride,
                      int lines, long k, bool has_norms, int lane) {
  const bool along = stride == 1 || line_stride != 1;
  const long step = along ? 32 : 1, apart = step * stride;
  int shift = 0;
  while ((k - 1) / 32 >> shift > 63) ++shift;
#pragma unroll 1
  for (int first = 0; first < lines; first += along ? 1 : 32) {
    const int line = along ? first : first + lane;
    const GLOBAL T* from = x + line * line_stride + (along ? lane * stride : 0);
    double squares = 0.0;
    ulong mask = 0UL;
    uint least = as_uint(0x1p100f) - 1u;  // so that zeros don't count
    if (line < lines)
#pragma unroll 1
      for (long l = along ? lane : 0; l < k; l += 16 * step, from += 16 * apart) {
        T v[16];
#pragma unroll
        for (int e = 0; e < 16; ++e) v[e] = l + e * step < k ? from[e * apart] : (T)0;
        uint present = 0u;
#pragma unroll
        for (int e = 0; e < 16; ++e) {
          const uint own = as_uint(unit_of(v[e])) - 1u;
          least = own < least ? own : least;
          present |= v[e] != (T)0 ? 1u << e : 0u;
        }
        if (!along || shift == 0)
          mask |= (ulong)(along ? present : present != 0u) << (l / 32 >> shift);
        else
          for (; present; present &= present - 1u)
            mask |= 1UL << (l / 32 + first_bit(present) >> shift);
        if (!has_norms)
#pragma unroll
          for (int e = 0; e < 16; ++e) squares = fma((double)v[e], (double)v[e], squares);
      }
    if (along)
      for (int by = 16; by > 0; by /= 2) {
        const uint other = shuffle_xor(least, by);
        least = other < least ? other : least;
        mask |= shuffle_xor_u64(mask, by);
        squares += shuffle_xor_f64(squares, by);
      }
    if (line >= lines || (along && lane > 0)) continue;
    if (!has_norms) to[line].norm = root_above(squares);
    to[line].ratio = to[line].norm / (double)as_float(least + 1u) * 0x1.00001p0;
    to[line].mask = mask;
  }
}

// Finds out about a part's rows and columns, as far as the matrix has them, from memory.
NOT_INLINED void know_lines(LOCAL_POINTER Own* own, const Operands from, int rows, int cols,
                            bool has_norms, int lane) {
  enum { ROWS = 8 * ROWS_OF_LANE, COLS = 8 * OWN_BLOCKS };
  know_side(own->rows, from.x, from.a_row, from.a_col, rows < ROWS ? rows : ROWS, from.k, has_norms,
            lane);
  know_side(own->cols, from.y, from.b_col, from.b_row, cols < COLS ? cols : COLS, from.k, has_norms,
            lane);
  sync_warp();
}

DEVICE void keep_norms(LOCAL_POINTER Own* own, const Known* known, int lane) {
#pragma unroll
  for (int r = 0; r < ROWS_OF_LANE; ++r) own->rows[ROW_OF(r)].norm = known->rows[r];
#pragma unroll
  for (int q = 0; q < COLS_OF_LANE; ++q) own->cols[COL_OF(q)].norm = known->cols[q];
  sync_warp();
}

// Computes the elements of the part at c whose bits lanes have in `open`.
DEVICE void compute_open(LOCAL_POINTER Own* own, const Known* known, uint open,
                         const Operands* from, GLOBAL T* c, long c_row, int lane, T alpha, T beta,
                         int flags) {
  uint lanes = lanes_with(open != 0u);
  if (lanes == 0u) return;
  Team team;
  team.whole = false, team.lane = lane, team.size = 32, team.copies = EACH;
  team.low = own->low, team.high = own->high;
  team.scaled_low = own->scaled_low, team.scaled_high = own->scaled_high;
  team.flags = &own->flags;
  own->open[lane] = open;
  keep_norms(own, known, lane);
#pragma unroll 1
  for (; lanes; lanes &= lanes - 1u) {
    const int l = first_bit(lanes);
#pragma unroll 1
    for (uint bits = own->open[l]; bits; bits &= bits - 1u) {
      const int bit = first_bit(bits);
      const int u = bit / COLS_OF_LANE * 8 + l / 4;
      const int v = bit % COLS_OF_LANE / 2 * 8 + l % 4 * 2 + bit % 2;
      Element e;
      e.x = from->x + u * from->a_row, e.y = from->y + v * from->b_col;
      e.x_stride = from->a_col, e.y_stride = from->b_row, e.k = from->k;
      e.alpha = alpha, e.beta = beta, e.flags = flags;
      const double base = power_above(own->rows[u].norm) * power_above(own->cols[v].norm);
      store_element(&team, &e, base, pair_loss(base, e.k), c + u * c_row + v);
    }
  }
}
