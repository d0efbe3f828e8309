// The operands of a small product, or of a tile of SIDE x SIDE elements, whole in local memory,
// each as it lies in memory: by_lanes, if k is along its lines. A group has one; k is at most SIDE.
//
// A line takes PITCH elements, an odd multiple of 16 bytes (f64: of 32): reads of 4 or 8 lines at
// once, or of 4 steps of 4 lines, fall on different banks, and every line begins at 16 bytes,
// wherever it lay in memory.
#pragma once
#include "copy.h"

#define PARTS ((SIDE + DEPTH - 1) / DEPTH)
#define PITCH ((SIDE + 3) / 8 * 8 + 4)
#define PANEL (SIDE * PITCH)

// Is k along the lines that lie in memory?
#define A_BY_LANES (a_row != 1)
#define B_BY_LANES (b_row == 1)

// From one step of k, or one row of A or column of B, to the next in local memory.
#define STEP_OF(by_lanes, pitch) ((by_lanes) ? 1 : (pitch))
#define LANE_OF(by_lanes, pitch) ((by_lanes) ? (pitch) : 1)

#define LOADER_A(to, from, rows, depth) \
  loader_of(to, A_PITCH, from, rows, depth, a_row, a_col, A_BY_LANES)
#define LOADER_B(to, from, cols, depth) \
  loader_of(to, B_PITCH, from, cols, depth, b_col, b_row, B_BY_LANES)
#define COPY_A(loader, l) copy_steps(loader, l, a_col, A_BY_LANES)
#define COPY_B(loader, l) copy_steps(loader, l, b_row, B_BY_LANES)

// The rows or columns of a tile that begins at `at`, of `size` in all.
DEVICE int extent_of(long size, long at) { return size - at < SIDE ? (int)(size - at) : SIDE; }

// Uses the macro MULTIPLY_PANELS(a_by_lanes, b_by_lanes) for each layout with constants, so that
// each has a loop of its own.
#define MULTIPLY_BY_LAYOUT           \
  do {                               \
    if (A_BY_LANES && B_BY_LANES)    \
      MULTIPLY_PANELS(true, true);   \
    else if (A_BY_LANES)             \
      MULTIPLY_PANELS(true, false);  \
    else if (B_BY_LANES)             \
      MULTIPLY_PANELS(false, true);  \
    else                             \
      MULTIPLY_PANELS(false, false); \
  } while (0)

// An operand that is being copied: `height` lines of `width` elements. The group copies `at_once`
// lines at once, as many as it has work-items for. This work-item's first element is the `x`th of
// line `first`.
typedef struct PanelLoader {
  LOCAL_POINTER T* to;
  const GLOBAL T* from;
  long line;  // from one line to the next
  int first, at_once, x, height, width, pitch;
  bool wide;  // by vectors
} PanelLoader;

// `lanes` rows of A or columns of B by `depth` steps of k. A line of the panel is a lane (by_lanes)
// or a step of k.
DEVICE PanelLoader loader_of(LOCAL_POINTER T* to, int pitch, const GLOBAL T* from, int lanes,
                             int depth, long lane_stride, long k_stride, bool by_lanes) {
  PanelLoader f;
  const int height = by_lanes ? lanes : depth, width = by_lanes ? depth : lanes;
  const long line = by_lanes ? lane_stride : k_stride, unit = by_lanes ? k_stride : lane_stride;
  f.wide = unit == 1 && width % WIDTH == 0 && (((ulong)from | (ulong)line * sizeof(T)) & 15) == 0;
  const int count = f.wide ? WIDTH : 1;
  const uint across = (uint)(by_lanes && PARTS > 1 ? DEPTH : width) / (uint)count;
  f.first = (int)((uint)local_x() / across);
  f.x = (int)((uint)local_x() % across) * count;
  f.at_once = (int)(THREADS / across);
  f.to = to + f.first * pitch + f.x;
  f.from = from + f.first * line + f.x * unit;
  f.line = line;
  f.height = height;
  f.width = width;
  f.pitch = pitch;
  return f;
}

// Begins to copy DEPTH steps of k of an operand, from `l` on.
DEVICE void copy_steps(const PanelLoader* f, int l, long k_stride, bool by_lanes) {
  const int begin = by_lanes ? 0 : l, end = by_lanes ? f->height : min(l + DEPTH, f->height);
  if (f->first >= f->at_once || (by_lanes && l + f->x >= f->width)) return;
  LOCAL_POINTER T* to = f->to + l * (by_lanes ? 1 : f->pitch);
  const GLOBAL T* from = f->from + l * k_stride;
  const long line = f->at_once * f->line;
  if (f->wide) {
#pragma unroll 4
    for (int y = begin + f->first; y < end;
         y += f->at_once, to += f->at_once * f->pitch, from += line)
      fetch_vector(to, from);
  } else {
#pragma unroll 4
    for (int y = begin + f->first; y < end;
         y += f->at_once, to += f->at_once * f->pitch, from += line)
      fetch_element(to, from);
  }
}
