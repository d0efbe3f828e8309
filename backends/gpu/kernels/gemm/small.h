// The operands of a small product, whole in local memory, each as it lies in memory: LAYOUT says how (n: unit
// stride along the rows, t: along the columns). A group has one product; m, n and k are at most SIDE.
//
// A line takes PITCH elements, an odd multiple of 16 bytes (f64: of 32): reads of 4 or 8 lines at once, or of 4
// steps of 4 lines, fall on different banks, and every line begins at 16 bytes, wherever it lay in memory.
#pragma once
#include "copy.h"

#define PITCH ((SIDE + 3) / 8 * 8 + 4)
#define PANEL (SIDE * PITCH)

#if LAYOUT_nn || LAYOUT_nt
#define A_STEP 1
#define A_LANE PITCH
#define COPY_A(to, from, depth) copy_whole(to, from, (int)m, depth, a_row, a_col)
#else
#define A_STEP PITCH
#define A_LANE 1
#define COPY_A(to, from, depth) copy_whole(to, from, depth, (int)m, a_col, a_row)
#endif
#if LAYOUT_nt || LAYOUT_tt
#define B_STEP 1
#define B_LANE PITCH
#define COPY_B(to, from, depth) copy_whole(to, from, (int)n, depth, b_col, b_row)
#else
#define B_STEP PITCH
#define B_LANE 1
#define COPY_B(to, from, depth) copy_whole(to, from, depth, (int)n, b_row, b_col)
#endif

// Begins to copy `height` lines of `width` elements, as many lines at once as the group has work-items for.
DEVICE void copy_whole(LOCAL_POINTER T* to, const GLOBAL T* from, int height, int width, long line,
                       long unit) {
  const bool wide =
      unit == 1 && width % WIDTH == 0 && (((ulong)from | (ulong)line * sizeof(T)) & 15) == 0;
  const uint across = (uint)(wide ? width / WIDTH : width), at_once = THREADS / across;
  const uint first = (uint)local_x() / across, x = (uint)local_x() % across;
  if (first >= at_once) return;
  to += first * PITCH + x * (wide ? WIDTH : 1);
  from += first * line + x * (wide ? WIDTH : unit);
  line *= at_once;
  if (wide) {
#pragma unroll 4
    for (int y = (int)first; y < height; y += at_once, to += at_once * PITCH, from += line)
      fetch_vector(to, from);
  } else {
#pragma unroll 4
    for (int y = (int)first; y < height; y += at_once, to += at_once * PITCH, from += line)
      fetch_element(to, from);
  }
}
