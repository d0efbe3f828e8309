// Panels that 128 work-items copy, stage after stage: `size` rows of A (or columns of B) by DEPTH
// steps of k, in local memory as panel[l][size + 4], one element per "lane" index and step. There
// are four ways to copy, by the operand's strides:
//
//   IN_VECTORS   the stride from row to row is 1 and every 16 bytes are aligned: 16 bytes a copy.
//   ALONG_LANES  the stride from row to row is 1: neighbours copy neighbours, one element each.
//   ALONG_K      k has unit stride: 8 neighbours read 32 bytes of a row and store them turned; the
//                padding of 4 elements spreads those stores over the banks.
//   ONE_BY_ONE   else: neighbours as above, but no address is a constant away from another.
//
// The first three look nothing up: several copies share one address and differ by constants. So
// they take few instructions from the warps that multiply. Where the matrix has fewer rows than
// `size`, or the last stage fewer steps than DEPTH, each copy asks: steps beyond the end are zero,
// rows beyond it stay as they are, because they belong to elements that C hasn't. `size` is a
// constant wherever these functions are called.
#define COPIERS 128
#define IN_VECTORS 0
#define ALONG_LANES 1
#define ALONG_K 2
#define ONE_BY_ONE 3
#define ROW(size) ((size) + 4)
#define PANEL(size) (DEPTH * ROW(size))

// How many work-items copy one step of k.
#define VECTORS(size) ((size) % 128 == 0 ? 32 : (size) % 64 == 0 ? 16 : (size) % 32 == 0 ? 8 : 4)
#define LANES(size) ((size) % 32 == 0 ? 32 : 16)
#define RUN 8

// The conditions on `size`: every work-item has a part in the last row of copies.
#define CAN_STREAM(size)                                                                 \
  (DEPTH % (COPIERS / VECTORS(size)) == 0 && DEPTH % (COPIERS / LANES(size)) == 0 &&     \
   (size) % (4 * VECTORS(size)) == 0 && (size) % LANES(size) == 0 && DEPTH % RUN == 0 && \
   (size) % (COPIERS / RUN) == 0)

#include "copy.h"

// One operand that is being copied. If it is `spread`, rows have the places that PLACE says, and
// nothing is copied by vectors.
typedef struct PanelLoader {
  const GLOBAL T* next;  // the next stage's first element
  long own;              // from there to this work-item's first
  long lane_stride, k_stride;
  int way, lanes, place;
  bool spread;
} PanelLoader;

// The row and the step of a work-item's first copy.
DEVICE int lane_of(int way, const int size, int u) {
  return way == ALONG_K ? u / RUN : way == IN_VECTORS ? u % VECTORS(size) * 4 : u % LANES(size);
}
DEVICE int step_of(int way, const int size, int u) {
  return way == ALONG_K ? u % RUN : u / (way == IN_VECTORS ? VECTORS(size) : LANES(size));
}

// `x` is the panel's first row, `lanes` what is left of the matrix from there.
DEVICE PanelLoader loader_of(const GLOBAL T* x, long lane_stride, long k_stride, long lanes,
                             const int size, int u, const bool spread) {
  PanelLoader f;
  f.next = x;
  f.lane_stride = lane_stride;
  f.k_stride = k_stride;
  f.lanes = lanes < size ? (int)lanes : size;
  const bool aligned = f.lanes % 4 == 0 && (((ulong)x | (ulong)k_stride * sizeof(T)) & 15) == 0;
  f.way = lane_stride == 1 ? (aligned && !spread ? IN_VECTORS : ALONG_LANES)
          : k_stride == 1  ? ALONG_K
                           : ONE_BY_ONE;
  const int lane = lane_of(f.way, size, u), l = step_of(f.way, size, u);
  f.own = lane * lane_stride + l * k_stride;
  f.spread = spread;
  f.place = l * ROW(size) + (spread ? PLACE(lane) : lane);
  return f;
}

// Makes `rows` times `pieces` copies. Rows are `step` apart in memory, pieces a constant `gap`. In
// the panel each second row lies `to_odd` behind the one before it.
DEVICE void copy_rows(const GLOBAL T* from, long step, const int rows, const int gap,
                      const int pieces, LOCAL_POINTER T* to, const int to_step, int to_odd,
                      const int to_gap, const bool vectors) {
#pragma unroll
  for (int r = 0; r < rows; ++r, from += step)
#pragma unroll
    for (int p = 0; p < pieces; ++p) {
      LOCAL_POINTER T* const place = to + r / 2 * 2 * to_step + r % 2 * to_odd + p * to_gap;
      if (vectors)
        fetch_vector(place, from + p * gap);
      else
        fetch_element(place, from + p * gap);
    }
}

// Copies what the matrix has of a stage: f->lanes rows, `steps` of its steps of k. Where the others
// are multiplied, they become zero.
DEVICE void copy_inside(const PanelLoader* f, LOCAL_POINTER T* panel, int steps, const int size,
                        int u) {
  const bool along_k = f->way == ALONG_K, wide = f->way == IN_VECTORS;
  const int lanes_apart = wide ? VECTORS(size) * 4 : along_k ? COPIERS / RUN : LANES(size);
  const int steps_apart = along_k ? RUN : COPIERS / (wide ? VECTORS(size) : LANES(size));
  const int lane0 = lane_of(f->way, size, u), step0 = step_of(f->way, size, u);
  const int end = TAIL ? steps : DEPTH;
#pragma unroll 1
  for (int lane = lane0; lane < f->lanes; lane += lanes_apart) {
    const GLOBAL T* from = f->next + lane * f->lane_stride + step0 * f->k_stride;
    LOCAL_POINTER T* const to = panel + (f->spread ? PLACE(lane) : lane);
#pragma unroll 1
    for (int step = step0; step < end; step += steps_apart, from += steps_apart * f->k_stride) {
      if (wide)
        copy_vector(to + step * ROW(size), from, step < steps);
      else
        copy_element(to + step * ROW(size), from, step < steps);
    }
  }
}

// Copies the next DEPTH steps, of which `left` lie inside the matrix, and moves on.
DEVICE void copy_stage(PanelLoader* f, LOCAL_POINTER T* panel, long left, const int size, int u) {
  const GLOBAL T* from = f->next + f->own;
  LOCAL_POINTER T* to = panel + f->place;
  if (f->way == ONE_BY_ONE || f->lanes < size || left < DEPTH) {
    copy_inside(f, panel, left < DEPTH ? (int)left : DEPTH, size, u);
  } else if (f->way == IN_VECTORS) {
    const int side = VECTORS(size), apart = COPIERS / side;
    copy_rows(from, apart * f->k_stride, DEPTH / apart, side * 4, size / (side * 4), to,
              apart * ROW(size), apart * ROW(size), side * 4, true);
  } else if (f->way == ALONG_LANES) {
    const int side = LANES(size), apart = COPIERS / side;
    copy_rows(from, apart * f->k_stride, DEPTH / apart, side, size / side, to, apart * ROW(size),
              apart * ROW(size), side, false);
  } else {
    const int apart = COPIERS / RUN;
    copy_rows(from, apart * f->lane_stride, size / apart, RUN, DEPTH / RUN, to, apart,
              f->spread ? PLACE(apart) : apart, RUN * ROW(size), false);
  }
  f->next += DEPTH * f->k_stride;
}

#define PANEL_A PANEL(TILE_M)
#define PANEL_B PANEL(TILE_N)
#define LOADER_A(x, lanes, u) loader_of(x, a_row, a_col, lanes, TILE_M, u, false)
#define LOADER_B(x, lanes, u) loader_of(x, b_col, b_row, lanes, TILE_N, u, (flags & SPREAD) != 0)
#define COPY_A(loader, panel, left, u) copy_stage(loader, panel, left, TILE_M, u)
#define COPY_B(loader, panel, left, u) copy_stage(loader, panel, left, TILE_N, u)
