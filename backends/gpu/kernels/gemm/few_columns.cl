// Idea: a work-item walks all of k for one row of C and COLS of its columns; groups are single warps,
// which copy stages of A's rows and B's columns into local memory long before they use them.
// It beats the tiles where C has few columns: no lane multiplies what isn't there, and all the local
// memory of a multiprocessor waits for A, which is read once, so that memory alone limits it.
// Requires: 47 KiB of local memory. Without background copies it is right, but slow.
//
//   a panel   rows of A by DEPTH steps of k, as they lie in memory: [ROWS][DEPTH] where k has unit
//             stride, else [DEPTH][ROWS]
//   b panel   [COLS][DEPTH], which all lanes read alike
#include "problem.h"

enum { HIGH = ROWS > 4 * COLS ? ROWS : 4 * COLS, DEPTH = 8192 / (int)sizeof(T) / HIGH };
enum { PITCH = DEPTH + WIDTH };  // rows that start four banks apart: no conflicts
enum { PANEL_A = ROWS * PITCH, STAGE = PANEL_A + COLS * DEPTH };
enum { STAGES = 47 * 1024 / (int)sizeof(T) / STAGE };
#include "copy.h"

// An operand on its way: lines of elements, as they lie in memory.
typedef struct Feed {
  const GLOBAL T* from;  // the first element of the next panel
  long line_stride, unit_stride;
  bool wide;  // elements of unit stride, lines that start at multiples of 16 bytes
} Feed;

DEVICE Feed feed_of(const GLOBAL T* from, long line_stride, long unit_stride) {
  Feed f;
  f.from = from;
  f.line_stride = line_stride;
  f.unit_stride = unit_stride;
  f.wide = unit_stride == 1 && (((ulong)from | (ulong)line_stride * sizeof(T)) & 15) == 0;
  return f;
}

// Copies `lines` x `width` elements that all lie inside, 16 bytes or one element at a time.
DEVICE void copy_whole(const Feed* f, LOCAL_POINTER T* to, const int pitch, const int lines,
                       const int width, const bool wide, int t) {
  const int step = wide ? WIDTH : 1, across = width / step < 32 ? width / step : 32;
  const int down = 32 / across, line = t / across, first = t % across * step;
  const long unit_stride = wide ? 1 : f->unit_stride;
  if (lines < down && line >= lines) return;
  const GLOBAL T* from = f->from + line * f->line_stride + first * unit_stride;
  to += line * pitch + first;
#pragma unroll
  for (int r = 0; r < lines; r += down, from += down * f->line_stride)
#pragma unroll
    for (int e = 0; e < width; e += across * step)
      if (wide)
        fetch_vector(to + r * pitch + e, from + e);
      else
        fetch_element(to + r * pitch + e, from + e * unit_stride);
}

// The same where only `lines_left` x `units_left` lie inside: zeros stand for the rest.
DEVICE void copy_lines(const Feed* f, LOCAL_POINTER T* to, const int pitch, const int lines,
                       const int width, long lines_left, long units_left, int t) {
  if (lines_left < lines || units_left < width) {
#pragma unroll 1
    for (int e = t; e < lines * width; e += 32) {
      const int line = e / width, unit = e % width;
      const bool inside = line < lines_left && unit < units_left;
      copy_element(to + line * pitch + unit,
                   f->from + (inside ? line * f->line_stride + unit * f->unit_stride : 0), inside);
    }
  } else if (f->wide) {
    copy_whole(f, to, pitch, lines, width, true, t);
  } else {
    copy_whole(f, to, pitch, lines, width, false, t);
  }
}

// Copies the next stage, of which `left` steps of k lie inside, and moves on.
DEVICE void copy_stage(Feed* a, Feed* b, LOCAL_POINTER T* stage, const bool along_k, long rows,
                       long cols, long left, int t) {
  if (along_k)
    copy_lines(a, stage, PITCH, ROWS, DEPTH, rows, left, t);
  else
    copy_lines(a, stage, ROWS, DEPTH, ROWS, left, rows, t);
  copy_lines(b, stage + PANEL_A, DEPTH, COLS, DEPTH, cols, left, t);
  a->from += DEPTH * (along_k ? a->unit_stride : a->line_stride);
  b->from += DEPTH * b->unit_stride;
}

// A stage's steps of k, of which every lane's row has `a` for its first.
DEVICE void multiply_steps(T* acc, const LOCAL_POINTER T* a, const LOCAL_POINTER T* b,
                           const bool along_k) {
#pragma unroll 8
  for (int l = 0; l < DEPTH; l += WIDTH) {
    T x[WIDTH], y[WIDTH];
    if (along_k) unpack(*(const LOCAL_POINTER VECTOR*)(a + l), x);
#pragma unroll
    for (int e = 0; e < WIDTH; ++e)
      if (!along_k) x[e] = a[(l + e) * ROWS];
#pragma unroll
    for (int j = 0; j < COLS; ++j) {
      unpack(*(const LOCAL_POINTER VECTOR*)(b + j * DEPTH + l), y);
#pragma unroll
      for (int e = 0; e < WIDTH; ++e) acc[j] = multiply_add(x[e], y[e], acc[j]);
    }
  }
}

KERNEL_OF(few_columns, 32, 1)(GEMM_ARGUMENTS) {
  LOCAL ALIGNED(16) T panels[STAGES * STAGE];
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const long i1 = (long)tile.row * ROWS, j0 = (long)tile.col * COLS;  // of what it stores
  const long i0 = inwards(i1, m, ROWS);
  const long depth = flags & MULTIPLY ? k : 0;
  const int t = local_x();
  const bool along_k = a_col == 1;
  const GLOBAL T* const from = a + a_offset + tile.batch * a_batch + i0 * a_row;
  Feed a_feed = along_k ? feed_of(from, a_row, a_col) : feed_of(from, a_col, a_row);
  Feed b_feed = feed_of(b + b_offset + tile.batch * b_batch + j0 * b_col, b_col, b_row);
  long left = depth;  // of k, to be copied

  T acc[COLS];
#pragma unroll
  for (int j = 0; j < COLS; ++j) acc[j] = 0;
  for (int s = 0; s < STAGES - 1; ++s, left -= DEPTH) {
    if (left > 0)
      copy_stage(&a_feed, &b_feed, panels + s * STAGE, along_k, m - i0, n - j0, left, t);
    commit_copies();
  }
  int stage = 0;
  for (long l0 = 0; l0 < depth; l0 += DEPTH, left -= DEPTH) {
    await_copies(STAGES - 2);
    sync();
    const int next = stage == 0 ? STAGES - 1 : stage - 1;
    if (left > 0)
      copy_stage(&a_feed, &b_feed, panels + next * STAGE, along_k, m - i0, n - j0, left, t);
    commit_copies();
    const LOCAL_POINTER T* const panel = panels + stage * STAGE;
    if (along_k)
      multiply_steps(acc, panel + t % ROWS * PITCH, panel + PANEL_A, true);
    else
      multiply_steps(acc, panel + t % ROWS, panel + PANEL_A, false);
    stage = stage == STAGES - 1 ? 0 : stage + 1;
  }

  const long i = i0 + t;
  if (t >= ROWS || i < i1 || i >= m) return;
  c += c_offset + tile.batch * c_batch + i * c_row + j0 * c_col;
#pragma unroll
  for (int j = 0; j < COLS; ++j)
    if (j0 + j < n) finish(c + j * c_col, acc[j], alpha, beta, flags);
}
