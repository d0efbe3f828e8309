// Idea: a group turns many small matrices, as many as its local memory holds, or a piece of a long
// thin one.
// It beats `vector` there because no lane idles: neighbours take neighbouring elements of a row of
// the input, then of the output, and of the rows behind it, whatever the width.
// Requires: unit strides of the input's columns and the output's rows; a matrix within 16 KB, rows
// and columns within 256.
//
// A long thin matrix is a batch of pieces; its last piece lacks `missing_rows` or `missing_cols`.
// In local memory an empty word follows 32 others, so that columns fall on different banks.
#include "pack.h"

#define THREADS 256
#define MATRICES (16384 / BYTES)
#define AT_ONCE (BYTES == 16 ? 4 : 8) /* loads before the first store */
#define GAPPED(x) ((x) + (x) / (BYTES < 4 ? 128 / BYTES : 32))

// A walk over the lines of the matrices, `step` lines at once: the place, and the number of lines
// left.
typedef struct Lines {
  int line, height, left;  // of the matrix; its lines; those of all matrices
  int step, step_matrices, step_lines;
} Lines;

DEVICE Lines lines_begin(uint first, uint at_once, uint height, int count) {
  Lines w;
  w.line = first % height;
  w.height = height;
  w.left = first < at_once ? count - (int)first : 0;
  w.step = at_once;
  w.step_matrices = at_once / height;
  w.step_lines = at_once % height;
  return w;
}

// True if the step crossed one matrix more than step_matrices.
DEVICE bool lines_on(Lines* w) {
  w->left -= w->step;
  w->line += w->step_lines;
  if (w->line < w->height) return false;
  w->line -= w->height;
  return true;
}

// Both sides: `count` matrices, all of whose lines are whole but for `lost_lines` of the last one
// and the last `lost_width` elements of each of its lines. Pieces of a line are vectors where all
// of them are aligned.
INLINED void load_matrices(LOCAL_POINTER Element* matrices, const GLOBAL uchar* from, long batch,
                           long row, int height, int width, int count, int lost_rows, int lost_cols,
                           const bool wide, uint t) {
  const uint unit = wide ? LANES : 1, across = width / unit;  // unsigned: a division is shorter
  const int at_once = wide ? 4 : AT_ONCE;
  const bool whole = is_aligned(from, BYTES);
  const int j = t % across * unit;
  Lines w = lines_begin(t / across, THREADS / across, height, count * height - lost_rows);
  if (j >= width - lost_cols) w.left -= height;
  from += (t / across / height * batch + w.line * row + j) * BYTES;
  const long step = (w.step_matrices * batch + w.step_lines * row) * BYTES;
  const long wrap = (batch - height * row) * BYTES;
  for (int at = t / across * width + j; w.left > 0;) {
    uint4 v[4];
    Element e[AT_ONCE > LANES ? AT_ONCE : LANES];
    int left = w.left;
#pragma unroll
    for (int s = 0; s < at_once; ++s) {
      if (w.left > 0 && wide) v[s % 4] = *(const GLOBAL uint4*)from;
      if (w.left > 0 && !wide) e[s] = load_element(from, whole);
      from += step;
      if (lines_on(&w)) from += wrap;
    }
#pragma unroll
    for (int s = 0; s < at_once; ++s) {
      if (left > 0 && wide) {
        unpack(v[s % 4], e);
#pragma unroll
        for (int l = 0; l < LANES; ++l) matrices[GAPPED(at) + l] = e[l];
      }
      if (left > 0 && !wide) matrices[GAPPED(at)] = e[s];
      left -= w.step;
      at += w.step * width;
    }
  }
}

INLINED void store_matrices(const LOCAL_POINTER Element* matrices, GLOBAL uchar* to, long batch,
                            long col, int height, int width, int count, int lost_rows,
                            int lost_cols, const bool wide, uint t) {
  const uint unit = wide ? LANES : 1, across = height / unit;
  const bool whole = is_aligned(to, BYTES);
  const int i = t % across * unit, area = height * width;
  Lines w = lines_begin(t / across, THREADS / across, width, count * width - lost_cols);
  if (i >= height - lost_rows) w.left -= width;
  int at = t / across / width * area + i * width + w.line;
  to += (t / across / width * batch + w.line * col + i) * BYTES;
  const long step = (w.step_matrices * batch + w.step_lines * col) * BYTES;
  const long wrap = (batch - width * col) * BYTES;
#pragma unroll 8
  while (w.left > 0) {
    if (wide) {
      Element e[LANES];
#pragma unroll
      for (int l = 0; l < LANES; ++l) e[l] = matrices[GAPPED(at + l * width)];
      *(GLOBAL uint4*)to = pack(e);
    } else {
      store_element(to, matrices[GAPPED(at)], whole);
    }
    to += step;
    at += w.step_matrices * area + w.step_lines;
    if (lines_on(&w)) {
      to += wrap;
      at += area - width;
    }
  }
}

KERNEL_BOUNDED(batched_small, THREADS, 1, 6)
(TRANSPOSE_ARGUMENTS, long batch, int most, int missing_rows, int missing_cols) {
  LOCAL ALIGNED(16) Element matrices[GAPPED(MATRICES) + 1];
  const int t = local_x(), height = (int)rows, width = (int)cols;
  const long first = (long)group_x() * most;
  const int count = batch - first < most ? (int)(batch - first) : most;
  const int lost_rows = first + count == batch ? missing_rows : 0;
  const int lost_cols = first + count == batch ? missing_cols : 0;
  const GLOBAL uchar* from = in + in_offset + first * in_batch * BYTES;
  GLOBAL uchar* to = out + out_offset + first * out_batch * BYTES;
  const bool vectors = LANES > 1 && missing_rows + missing_cols == 0;
  await_earlier_launches();
  if (vectors && width % LANES == 0 && is_wide(from, 1, in_row, in_batch))
    load_matrices(matrices, from, in_batch, in_row, height, width, count, 0, 0, true, t);
  else
    load_matrices(matrices, from, in_batch, in_row, height, width, count, lost_rows, lost_cols,
                  false, t);
  sync();
  if (vectors && height % LANES == 0 && is_wide(to, 1, out_col, out_batch))
    store_matrices(matrices, to, out_batch, out_col, height, width, count, 0, 0, true, t);
  else
    store_matrices(matrices, to, out_batch, out_col, height, width, count, lost_rows, lost_cols,
                   false, t);
}

// --- Matrices that lie behind each other without gaps, on both sides
// --------------------------------- Neighbours take neighbouring elements, whatever the lines:
// eight bytes of them where both sides of a group begin at a multiple of eight bytes and its
// elements fill whole pairs. In local memory they lie as they will in the output. A kernel of its
// own: as a branch of `batched_small` it lost the device through NVIDIA's OpenCL, at shapes that
// didn't take it.
#define PAIR (BYTES < 8 ? 8 / BYTES : 1) /* elements in eight bytes */

#if BYTES < 8
DEVICE void unpack_pair(uint2 v, Element* e) {
  const uint words[2] = {v.x, v.y};
#pragma unroll
  for (int l = 0; l < PAIR; ++l) e[l] = (Element)(words[l * BYTES / 4] >> (l * BYTES % 4 * 8));
}

// Stores eight bytes from `at` on; the first of them is column j of row i. One line or several may
// end within them.
INLINED void put_pair(LOCAL_POINTER Element* matrices, uint2 v, int height, int width, int i, int j,
                      int at, const bool often) {
  const int area = height * width, rest = width - j, wrap = i + 1 == height ? 1 - height : 1 - area;
  Element some[PAIR];
  unpack_pair(v, some);
#pragma unroll
  for (int l = 0; l < PAIR; ++l) {
    matrices[at + l * height + (l < rest || often ? 0 : wrap)] = some[l];
    if (!often || ++j < width) continue;
    j = 0;
    at += 1 - area;
    if (++i < height) continue;
    i = 0;
    at += area - height;
  }
}
#endif

INLINED void load_packed(LOCAL_POINTER Element* matrices, const GLOBAL uchar* from, int height,
                         int width, int total, const bool wide, const bool narrow, uint t) {
  const uint unit = wide ? PAIR : 1, lines = height, length = width, area = lines * length;
  const uint far = THREADS * unit, first = t * unit;
  const int ahead = far, by_line = far / length % lines, by_j = far % length;
  const int step = far / area * area + by_j * height + by_line;
  const bool whole = is_aligned(from, BYTES);
  int j = first % length, i = first / length % lines;
  int at = first / area * area + j * height + i;
  from += first * BYTES;
  for (int p = first; p < total;) {
    uint2 v[AT_ONCE];
    Element e[AT_ONCE];
#pragma unroll
    for (int s = 0; s < AT_ONCE; ++s) {
      // Clamped, because there are fewer than eight predicate registers, and a load would wait for
      // one.
      const GLOBAL uchar* one = from + (p + s * ahead < total ? s * ahead * BYTES : 0);
      if (wide)
        v[s] = *(const GLOBAL uint2*)one;
      else
        e[s] = load_element(one, whole);
    }
    from += AT_ONCE * ahead * BYTES;
#pragma unroll
    for (int s = 0; s < AT_ONCE; ++s, p += ahead) {
#if BYTES < 8
      if (p < total && wide) put_pair(matrices, v[s], height, width, i, j, at, narrow);
#else
      (void)v;
#endif
      if (p < total && !wide) matrices[at] = e[s];
      j += by_j;
      i += by_line;
      at += step;
      if (j >= width) {
        j -= width;
        i += 1;
        at += 1 - (int)area;
      }
      if (i >= height) {
        i -= height;
        at += (int)area - height;
      }
    }
  }
}

INLINED void store_packed(const LOCAL_POINTER Element* matrices, GLOBAL uchar* to, int total,
                          const bool wide, int t) {
  const int unit = wide ? PAIR : 1;
  const bool whole = is_aligned(to, BYTES);
#pragma unroll 8
  for (int p = t * unit; p < total; p += THREADS * unit) {
    if (wide)
      *(GLOBAL uint2*)(to + p * BYTES) = *(const LOCAL_POINTER uint2*)(matrices + p);
    else
      store_element(to + p * BYTES, matrices[p], whole);
  }
}

KERNEL_BOUNDED(batched_small_packed, THREADS, 1, 6)
(TRANSPOSE_ARGUMENTS, long batch, int most, int missing_rows, int missing_cols) {
  LOCAL ALIGNED(16) Element matrices[MATRICES];
  const int t = local_x(), height = (int)rows, width = (int)cols, area = height * width;
  const long first = (long)group_x() * most;
  const int total = (batch - first < most ? (int)(batch - first) : most) * area;
  const GLOBAL uchar* from = in + in_offset + first * in_batch * BYTES;
  GLOBAL uchar* to = out + out_offset + first * out_batch * BYTES;
  const bool wide = BYTES < 8 && total % PAIR == 0 && is_aligned(from, 8) && is_aligned(to, 8);
  await_earlier_launches();
  if (wide && width < PAIR)
    load_packed(matrices, from, height, width, total, true, true, t);
  else if (wide)
    load_packed(matrices, from, height, width, total, true, false, t);
  else
    load_packed(matrices, from, height, width, total, false, false, t);
  sync();
  if (wide)
    store_packed(matrices, to, total, true, t);
  else
    store_packed(matrices, to, total, false, t);
}
