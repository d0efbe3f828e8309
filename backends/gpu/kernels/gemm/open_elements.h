// Only NVIDIA's compilers take this text.
// How a warp computes the elements of its part of a tile that no bound made certain
// (certain_block.h), one after the other (one_element.h). Where they are many, the group looks
// first for what makes them certain: zeros, and numbers of few bits.
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

// A row or column, as memory tells: the sum of its squares, 1 over a power of two of which all
// elements are multiples, its mask (certain.h), and where elements that aren't 0 begin and end.
typedef struct Line {
  double squares, parts;
  ulong mask;
  long first, end;
} Line;
// It lies where the panels were: of each warp, then of all. Rows come first, then columns.
typedef struct Lines {
  Line of[MULTIPLIERS / 32][TILE_M + TILE_N];
} Lines;
static_assert(sizeof(Lines) <= STAGES * (PANEL_A + PANEL_B) * sizeof(T));
// A warp's own local memory.
typedef struct Own {
  double rows[8 * ROWS_OF_LANE], cols[8 * OWN_BLOCKS];  // norms
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

// Do so many of the group's lanes say so that it pays to know the tile's lines? A warp may say so.
DEVICE bool are_many(bool says, LOCAL_POINTER Own* own) {
  enum { FEW = 24 };
  uint count;
#if HAVE_PTX
  __asm__ volatile(
      "{\n\t.reg .pred says;\n\t"
      "setp.ne.u32 says, %1, 0;\n\t"
      "bar.red.popc.u32 %0, 1, %2, says;\n\t}"
      : "=r"(count)
      : "r"(says ? 1u : 0u), "n"(MULTIPLIERS)
      : "memory");
#else
  LOCAL_POINTER Own* const all = own - local_x() / 32;
  count = 0u;
  for (uint lanes = lanes_with(says); lanes; lanes &= lanes - 1u) ++count;
  own->flags = count;
  sync_multipliers();
  count = 0u;
  for (int w = 0; w < MULTIPLIERS / 32; ++w) count += all[w].flags;
  sync_multipliers();
#endif
  return count > FEW;
}

// Looks at `count` lines from x on. Lanes have steps beside each other where these lie so, else
// a line each, of which warps share the steps. 32 elements are on their way.
DEVICE void know_side(LOCAL_POINTER Lines* lines, int from_line, const GLOBAL T* x,
                      long line_stride, long stride, int count, long k) {
  const int warps = MULTIPLIERS / 32, warp = local_x() / 32, lane = local_x() % 32;
  const bool along = stride == 1 || line_stride != 1;
  const int blocks = along ? count : (count + 31) / 32;
  const int shares = along || blocks >= warps ? 1 : warps / blocks;
  const long step = along ? 32 : 1, apart = step * stride;
  int shift = 0;
  while ((k - 1) / 32 >> shift > 63) ++shift;
#pragma unroll 1
  for (int work = warp; work < blocks * shares; work += warps) {
    const int line = along ? work : work % blocks * 32 + lane;
    const long begin = along ? lane : work / blocks * 32l;
    uint least = as_uint(0x1p100f) - 1u;  // so that zeros don't count
    Line all;
    all.squares = 0.0, all.mask = 0UL, all.first = k, all.end = 0;
    const GLOBAL T* from = x + line * line_stride + begin * stride;
    if (line < count)
#pragma unroll 1
      for (long l = begin; l < k; l += 32 * step * shares, from += 32 * apart * shares) {
        const long left = (k - l + step - 1) / step;
        const int there = left < 32 ? (int)left : 32;
        const GLOBAL T* next = from;
        T v[32];
#pragma unroll
        for (int e = 0; e < 32; ++e, next += apart) v[e] = e < there ? *next : (T)0;
        uint present = 0u;
        double squares[2] = {0.0, 0.0};
#pragma unroll
        for (int e = 0; e < 32; ++e) {
          const uint own = as_uint(unit_of(v[e])) - 1u;
          least = own < least ? own : least;
          present |= v[e] != (T)0 ? 1u << e : 0u;
          squares[e % 2] = fma((double)v[e], (double)v[e], squares[e % 2]);
        }
        if (present == 0u) continue;
        all.squares += squares[0] + squares[1];
        const long first = l + first_bit(present) * step, last = l + (31 - clz(present)) * step;
        all.first = first < all.first ? first : all.first;
        all.end = last + 1;
        if (!along || shift == 0)
          all.mask |= (ulong)(along ? present : 1u) << (l / 32 >> shift);
        else
          for (; present; present &= present - 1u)
            all.mask |= 1UL << (l / 32 + first_bit(present) >> shift);
      }
    if (along)
      for (int by = 16; by > 0; by /= 2) {
        const uint other = shuffle_xor(least, by);
        const long first = (long)shuffle_xor_u64((ulong)all.first, by);
        const long end = (long)shuffle_xor_u64((ulong)all.end, by);
        least = other < least ? other : least;
        all.first = first < all.first ? first : all.first;
        all.end = end > all.end ? end : all.end;
        all.mask |= shuffle_xor_u64(all.mask, by);
        all.squares += shuffle_xor_f64(all.squares, by);
      }
    all.parts = 1.0 / (double)as_float(least + 1u);
    if (line < count && (!along || lane == 0)) lines->of[work / blocks][from_line + line] = all;
  }
}

// Finds out about the tile's rows and columns, as far as the matrix has them, from memory. All
// multiplying warps are here.
NOT_INLINED void know_lines(LOCAL_POINTER Lines* lines, const Operands tile, int rows, int cols) {
  const int warps = MULTIPLIERS / 32;
  Line none;
  none.squares = 0.0, none.parts = 0.0, none.mask = 0UL, none.first = tile.k, none.end = 0;
#pragma unroll 1
  for (int i = local_x(); i < warps * (TILE_M + TILE_N); i += MULTIPLIERS) lines->of[0][i] = none;
  sync_multipliers();
  know_side(lines, 0, tile.x, tile.a_row, tile.a_col, rows, tile.k);
  know_side(lines, TILE_M, tile.y, tile.b_col, tile.b_row, cols, tile.k);
  sync_multipliers();
#pragma unroll 1
  for (int i = local_x(); i < TILE_M + TILE_N; i += MULTIPLIERS) {
    Line all = lines->of[0][i];
#pragma unroll 1
    for (int w = 1; w < warps; ++w) {
      const Line one = lines->of[w][i];
      all.squares += one.squares;
      all.parts = one.parts > all.parts ? one.parts : all.parts;
      all.mask |= one.mask;
      all.first = one.first < all.first ? one.first : all.first;
      all.end = one.end > all.end ? one.end : all.end;
    }
    lines->of[0][i] = all;
  }
  sync_multipliers();
}

// Is the sum of such a row's and column's products one of zeros alone?
DEVICE bool are_disjoint(const LOCAL_POINTER Line* row, const LOCAL_POINTER Line* col) {
  return (row->mask & col->mask) == 0UL || row->first >= col->end || col->first >= row->end;
}

DEVICE void keep_norms(LOCAL_POINTER Own* own, const Known* known, int lane) {
#pragma unroll
  for (int r = 0; r < ROWS_OF_LANE; ++r) own->rows[ROW_OF(r)] = known->rows[r];
#pragma unroll
  for (int q = 0; q < COLS_OF_LANE; ++q) own->cols[COL_OF(q)] = known->cols[q];
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
      const double base = power_above(own->rows[u]) * power_above(own->cols[v]);
      store_element(&team, &e, base, pair_loss(base, e.k), c + u * c_row + v);
    }
  }
}
