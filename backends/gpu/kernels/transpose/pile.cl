// Idea: a group turns a pile of small matrices, as many as its local memory holds, or a piece of a long thin one.
// It beats `vector` there because no lane idles: neighbours take neighbouring elements of a row of the input,
// then of the output, and of the rows behind it, whatever the width.
// Requires: unit strides of the input's columns and the output's rows; a matrix within 16 KB, rows and columns
// within 256.
//
// A long thin matrix is a batch of pieces; its last piece lacks `missing_rows` or `missing_cols`. In local memory
// an empty word follows 32 others, so that columns fall on different banks.
#include "problem.h"

#define THREADS 256
#define PILE (16384 / BYTES)
#define AT_ONCE (BYTES == 16 ? 4 : 8) /* loads before the first store */
#define GAPPED(x) ((x) + (x) / (BYTES < 4 ? 128 / BYTES : 32))

// A walk over the lines of the pile's matrices, `step` lines at once: where it is, and how many are left.
typedef struct Lines {
  int line, height, left;  // of the matrix; its lines; of the pile
  int step, step_matrices, step_lines;
} Lines;

DEVICE Lines lines_begin(int first, int at_once, int height, int count) {
  Lines w;
  w.line = first % height;
  w.height = height;
  w.left = first < at_once ? count - first : 0;
  w.step = at_once;
  w.step_matrices = at_once / height;
  w.step_lines = at_once % height;
  return w;
}

// True when the step went into one more matrix than step_matrices.
DEVICE bool lines_on(Lines* w) {
  w->left -= w->step;
  w->line += w->step_lines;
  if (w->line < w->height) return false;
  w->line -= w->height;
  return true;
}

KERNEL_BOUNDED(pile, THREADS, 1, 6)
(TRANSPOSE_ARGUMENTS, long batch, int missing_rows, int missing_cols) {
  LOCAL ALIGNED(16) Element pile[GAPPED(PILE) + 1];
  const int t = local_x(), height = (int)rows, width = (int)cols, area = height * width;
  const int most = PILE / area;
  const long first = (long)group_x() * most;
  const int count = batch - first < most ? (int)(batch - first) : most;
  const int lost_rows = first + count == batch ? missing_rows : 0;
  const int lost_cols = first + count == batch ? missing_cols : 0;
  const GLOBAL uchar* from = in + in_offset;
  GLOBAL uchar* to = out + out_offset;
  const bool whole_in = is_aligned(from, BYTES), whole_out = is_aligned(to, BYTES);
  {
    const int j = t % width;
    Lines w = lines_begin(t / width, THREADS / width, height, count * height - lost_rows);
    if (j >= width - lost_cols) w.left -= height;
    from += ((first + t / width / height) * in_batch + w.line * in_row + j) * BYTES;
    const long step = (w.step_matrices * in_batch + w.step_lines * in_row) * BYTES;
    const long wrap = (in_batch - height * in_row) * BYTES;
    for (int at = t; w.left > 0;) {
      Element e[AT_ONCE];
      int left = w.left;
#pragma unroll
      for (int s = 0; s < AT_ONCE; ++s) {
        if (w.left > 0) e[s] = load_element(from, whole_in);
        from += step;
        if (lines_on(&w)) from += wrap;
      }
#pragma unroll
      for (int s = 0; s < AT_ONCE; ++s) {
        if (left > 0) pile[GAPPED(at)] = e[s];
        left -= w.step;
        at += w.step * width;
      }
    }
  }
  sync();
  const int i = t % height;
  Lines w = lines_begin(t / height, THREADS / height, width, count * width - lost_cols);
  if (i >= height - lost_rows) w.left -= width;
  int at = t / height / width * area + i * width + w.line;
  to += ((first + t / height / width) * out_batch + w.line * out_col + i) * BYTES;
  const long step = (w.step_matrices * out_batch + w.step_lines * out_col) * BYTES;
  const long wrap = (out_batch - width * out_col) * BYTES;
#pragma unroll 8
  while (w.left > 0) {
    store_element(to, pile[GAPPED(at)], whole_out);
    to += step;
    at += w.step_matrices * area + w.step_lines;
    if (lines_on(&w)) {
      to += wrap;
      at += area - width;
    }
  }
}
