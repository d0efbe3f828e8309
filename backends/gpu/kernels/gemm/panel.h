// Panels: `size` rows of A (or columns of B) by DEPTH steps of k, brought from memory into local
// memory as panel[l][size + 4], one element per row and step, by THREADS work-items. "Row" is also
// a column of B here, and `lane` in names. Three ways to copy, by how the operand lies in memory;
// the choice is uniform. `size` is a constant wherever these functions are called; THREADS is a
// multiple or a part of it.
//
//   ALONG_K      k has unit stride: RUN neighbours read 32 bytes of a row and store them turned;
//                the padding of 4 elements spreads those stores over the banks.
//   ALONG_LANES  element by element, neighbours from row to row (also what has no unit stride).
//   IN_VECTORS   the stride from row to row is 1 and every 16 bytes are aligned: 16 bytes a copy.
//
// Rows outside the matrix repeat a row inside (their results are never stored) or are zero; steps
// outside are zero in A and in B.
#define ALONG_K 0
#define ALONG_LANES 1
#define IN_VECTORS 2
#define ROW(size) ((size) + 4)
#define PANEL(size) (DEPTH * ROW(size))
#define RUN (32 / (int)sizeof(T))

#include "copy.h"

// One operand that is being copied: the source and target of this work-item's first copy of the
// next stage, and what is left of the matrix from there.
typedef struct PanelLoader {
  const GLOBAL T* from;
  long lane_stride, k_stride;
  int way, lanes_left, place;
  bool full;  // all rows are inside
} PanelLoader;

// `lane0` is the panel's first row, `lanes` the matrix's number of them.
DEVICE PanelLoader loader_of(const GLOBAL T* x, long lane_stride, long k_stride, long batch_stride,
                             long lane0, long lanes, const int size, int t) {
  const long left = lanes - lane0;
  PanelLoader f;
  f.lane_stride = lane_stride;
  f.k_stride = k_stride;
  f.lanes_left = left < size ? (int)left : size;
  f.full = left >= size;
  const ulong bytes = (ulong)(k_stride | batch_stride) * sizeof(T);
  f.way = k_stride == 1 && lane_stride != 1                    ? ALONG_K
          : lane_stride == 1 && (((ulong)x | bytes) & 15) == 0 ? IN_VECTORS
                                                               : ALONG_LANES;
  int lane = t % size, l = t / size;
  if (f.way == ALONG_K) lane = t / RUN, l = t % RUN;
  if (f.way == IN_VECTORS) lane = t % (size / WIDTH) * WIDTH, l = t / (size / WIDTH);
  f.place = l * ROW(size) + lane;
  if (f.way != IN_VECTORS && lane >= f.lanes_left) lane = f.lanes_left - 1;
  f.from = x + (lane0 + lane) * lane_stride + l * k_stride;
  f.lanes_left -= lane;
  return f;
}

// Copies `steps` of the next DEPTH steps. If `whole`, these are all of them and, in vectors, all
// lanes.
DEVICE void copy_steps(const PanelLoader* f, LOCAL_POINTER T* to, const bool whole, int steps,
                       const int size, int t) {
  const GLOBAL T* from = f->from;
  if (f->way == IN_VECTORS) {
    const int apart = THREADS / (size / WIDTH), first = t / (size / WIDTH);
    if (!whole && ends_within_vector(f->lanes_left)) {
#pragma unroll 1
      for (int l = 0; l < DEPTH; l += apart, from += apart * f->k_stride)
        copy_end(to + l * ROW(size), from, l + first < steps ? f->lanes_left : 0);
      return;
    }
#pragma unroll
    for (int l = 0; l < DEPTH; l += apart, from += apart * f->k_stride)
      if (whole)
        fetch_vector(to + l * ROW(size), from);
      else
        copy_vector(to + l * ROW(size), from, f->lanes_left > 0 && l + first < steps);
  } else if (f->way == ALONG_K) {
#pragma unroll
    for (int s = 0; s < size; s += THREADS / RUN) {
#pragma unroll
      for (int l = 0; l < DEPTH; l += RUN)
        if (whole)
          fetch_element(to + l * ROW(size) + s, from + l);
        else
          copy_element(to + l * ROW(size) + s, from + l, l + t % RUN < steps);
      if (s + THREADS / RUN < f->lanes_left) from += THREADS / RUN * f->lane_stride;
    }
  } else {
    const int lanes = THREADS < size ? THREADS : size;
#pragma unroll
    for (int s = 0; s < size; s += lanes) {
      from = f->from + (s < f->lanes_left ? s * f->lane_stride : 0);
#pragma unroll
      for (int l = 0; l < DEPTH; l += THREADS / lanes, from += THREADS / lanes * f->k_stride)
        if (whole)
          fetch_element(to + l * ROW(size) + s, from);
        else
          copy_element(to + l * ROW(size) + s, from, l + t / size < steps);
    }
  }
}

// Copies the next DEPTH steps, of which k_left lie inside the matrix, and moves on.
DEVICE void copy_panel(PanelLoader* f, LOCAL_POINTER T* panel, long k_left, const int size, int t) {
  if (k_left >= DEPTH && (f->full || f->way != IN_VECTORS))
    copy_steps(f, panel + f->place, true, DEPTH, size, t);
  else
    copy_steps(f, panel + f->place, false, k_left < DEPTH ? (int)k_left : DEPTH, size, t);
  f->from += DEPTH * f->k_stride;
}
