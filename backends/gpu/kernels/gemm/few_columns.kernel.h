// Idea: a work-item walks all of k for one row of C and COLS columns; groups are single warps,
// which copy stages of A's rows and B's columns into local memory long before they use them.
// It beats the tiles where C has few columns (f32, i32: up to 16; f64: up to 4), because almost all
// of a multiprocessor's local memory receives A. A is read once for COLS columns: once up to 8
// columns, twice up to 16. So memory alone limits the kernel. A C of few rows is computed as its
// transposed product. With 8 or 16 ROWS, the other lanes of a warp copy, and compute a row again.
// Requires: 47 KiB of local memory. Without background copies it is right, but slow.
//
//   a panel   rows of A by DEPTH steps of k, as they lie in memory: [ROWS][DEPTH] where k has unit
//             stride, else [DEPTH][ROWS]
//   b panel   [COLS][DEPTH], which all lanes read alike
//   The last group is shifted inwards to whole rows; columns that aren't there repeat the last.
#include "problem.h"

enum { HIGH = ROWS > 4 * COLS ? ROWS : 4 * COLS, DEPTH = 8192 / (int)sizeof(T) / HIGH };
enum { PITCH = DEPTH + WIDTH };  // rows that start four banks apart: no conflicts
enum { PANEL_A = ROWS * PITCH, STAGE = PANEL_A + COLS * PITCH };
enum { CHUNK = 16 * WIDTH < DEPTH ? 16 * WIDTH : DEPTH };  // steps in the loop's text
enum { STAGES = 47 * 1024 / (int)sizeof(T) / STAGE };
// It saves 1 to 2 % of the time.
#define FETCH_AHEAD ".L2::128B"
#include "copy.h"

#if HAVE_WARPS
#define sync_group() sync_warp()
#else
#define sync_group() sync()
#endif

// An operand that is being copied: lines of elements, as they lie in memory.
typedef struct PanelLoader {
  const GLOBAL T* from;  // the first element of the next panel
  long line_stride, unit_stride;
  bool wide;  // elements of unit stride, lines that start at multiples of 16 bytes
} PanelLoader;

DEVICE PanelLoader loader_of(const GLOBAL T* from, long line_stride, long unit_stride) {
  PanelLoader f;
  f.from = from;
  f.line_stride = line_stride;
  f.unit_stride = unit_stride;
  f.wide = unit_stride == 1 && (((ulong)from | (ulong)line_stride * sizeof(T)) & 15) == 0;
  return f;
}

// Copies `lines` x `width` elements that all lie inside, 16 bytes or one element at a time.
DEVICE void copy_whole(const PanelLoader* f, LOCAL_POINTER T* to, const int pitch, const int lines,
                       const int width, const bool wide, int t) {
  const int size = wide ? WIDTH : 1, across = width / size < 32 ? width / size : 32;
  const int down = 32 / across, line = t / across, first = t % across * size;
  const long unit_stride = wide ? 1 : f->unit_stride;
  const GLOBAL T* from = f->from + line * f->line_stride + first * unit_stride;
  to += line * pitch + first;
#pragma unroll
  for (int r = 0; r < lines; r += down, from += down * f->line_stride)
#pragma unroll
    for (int e = 0; e < width; e += across * size)
      if (wide)
        fetch_vector(to + r * pitch + e, from + e);
      else
        fetch_element(to + r * pitch + e, from + e * unit_stride);
}

// Copies the first `lines` x `width` elements, of which `lines_left` x `units_left` lie inside; the
// rest is zero.
DEVICE void copy_part(const PanelLoader* f, LOCAL_POINTER T* to, const int pitch, int lines,
                      int width, long lines_left, long units_left, int t) {
#pragma unroll 1
  for (int line = 0; line < lines; ++line)
#pragma unroll 1
    for (int unit = t; unit < width; unit += 32) {
      const bool inside = line < lines_left && unit < units_left;
      copy_element(to + line * pitch + unit,
                   f->from + (inside ? line * f->line_stride + unit * f->unit_stride : 0), inside);
    }
}

// How many steps of a stage are used if `left` steps of k are left.
DEVICE int steps_of(long left) {
  return left < DEPTH ? ((int)left + CHUNK - 1) / CHUNK * CHUNK : DEPTH;
}

// Copies the columns of B, neighbours along the columns where several are needed.
DEVICE void copy_columns(const PanelLoader* f, LOCAL_POINTER T* to, long cols, long left, int t) {
  const int column = t % COLS, first = t / COLS, last = cols < COLS ? (int)cols - 1 : COLS - 1;
  const GLOBAL T* from = f->from + (column < last ? column : last) * f->line_stride;
  to += column * PITCH;
#pragma unroll
  for (int l = 0; l < DEPTH; l += 32 / COLS)
    if (left >= DEPTH)
      fetch_element(to + first + l, from + (first + l) * f->unit_stride);
    else
      copy_element(to + first + l, from + (first + l < left ? first + l : 0) * f->unit_stride,
                   first + l < left);
}

// Copies the next stage, of which `left` steps of k lie inside, and moves on.
DEVICE void copy_stage(PanelLoader* a, PanelLoader* b, LOCAL_POINTER T* stage, const bool along_k,
                       long rows, long cols, long left, int t) {
  if (rows < ROWS || left < DEPTH)
    copy_part(a, stage, along_k ? PITCH : ROWS, along_k ? ROWS : steps_of(left),
              along_k ? steps_of(left) : ROWS, along_k ? rows : left, along_k ? left : rows, t);
  else if (along_k && a->wide)
    copy_whole(a, stage, PITCH, ROWS, DEPTH, true, t);
  else if (along_k)
    copy_whole(a, stage, PITCH, ROWS, DEPTH, false, t);
  else if (a->wide)
    copy_whole(a, stage, ROWS, DEPTH, ROWS, true, t);
  else
    copy_whole(a, stage, ROWS, DEPTH, ROWS, false, t);
  copy_columns(b, stage + PANEL_A, cols, left, t);
  a->from += DEPTH * (along_k ? a->unit_stride : a->line_stride);
  b->from += DEPTH * b->unit_stride;
}

// Continues the chains by `steps` of a stage. `a` and `b` are the first elements of this lane's row
// and of B's first column.
DEVICE void multiply_steps(T* acc, const LOCAL_POINTER T* a, const LOCAL_POINTER T* b, int steps,
                           const bool along_k) {
#pragma unroll 1
  for (int l0 = 0; l0 < steps; l0 += CHUNK)
#pragma unroll
    for (int l = 0; l < CHUNK; l += WIDTH) {
      T x[WIDTH], y[WIDTH];
      if (along_k) unpack(*(const LOCAL_POINTER VECTOR*)(a + l0 + l), x);
#pragma unroll
      for (int e = 0; e < WIDTH; ++e)
        if (!along_k) x[e] = a[(l0 + l + e) * ROWS];
#pragma unroll
      for (int j = 0; j < COLS; ++j) {
        unpack(*(const LOCAL_POINTER VECTOR*)(b + j * PITCH + l0 + l), y);
#pragma unroll
        for (int e = 0; e < WIDTH; ++e) acc[j] = multiply_add(x[e], y[e], acc[j]);
      }
    }
}

// Uses `count` stages while the copy of another whole stage is issued. Nothing is looked up,
// because memory is idle while a warp asks late. (Both layouts share one loop: under PoCL 3.1 a
// barrier in a loop inside of a branch gave wrong results.)
DEVICE void multiply_whole_stages(T* acc, PanelLoader* a, PanelLoader* b, LOCAL_POINTER T* panels,
                                  int count, const bool along_k, long cols, int* stage, int t) {
  const int column = t % COLS, first = t / COLS, last = cols < COLS ? (int)cols - 1 : COLS - 1;
  const GLOBAL T* from =
      b->from + (column < last ? column : last) * b->line_stride + first * b->unit_stride;
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    await_copies(STAGES - 2);
    sync_group();
    const LOCAL_POINTER T* const panel = panels + *stage * STAGE;
    LOCAL_POINTER T* const next = panels + (*stage == 0 ? STAGES - 1 : *stage - 1) * STAGE;
    if (along_k)
      copy_whole(a, next, PITCH, ROWS, DEPTH, true, t);
    else
      copy_whole(a, next, ROWS, DEPTH, ROWS, true, t);
    a->from += DEPTH * (along_k ? 1 : a->line_stride);
#pragma unroll
    for (int l = 0; l < DEPTH; l += 32 / COLS, from += 32 / COLS * b->unit_stride)
      fetch_element(next + PANEL_A + column * PITCH + first + l, from);
    commit_copies();
    if (along_k)
      multiply_steps(acc, panel + t % ROWS * PITCH, panel + PANEL_A, DEPTH, true);
    else
      multiply_steps(acc, panel + t % ROWS, panel + PANEL_A, DEPTH, false);
    *stage = *stage == STAGES - 1 ? 0 : *stage + 1;
  }
  b->from += count * (DEPTH * b->unit_stride);
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
  PanelLoader a_loader = along_k ? loader_of(from, a_row, a_col) : loader_of(from, a_col, a_row);
  PanelLoader b_loader = loader_of(b + b_offset + tile.batch * b_batch + j0 * b_col, b_col, b_row);
  long left = depth;  // of k, to be copied

  T acc[COLS];
#pragma unroll
  for (int j = 0; j < COLS; ++j) acc[j] = 0;
  // Where elements are copied one by one, four groups a multiprocessor work. It holds five, so the
  // next launch's groups would begin on some multiprocessors only, and be spread unevenly.
  if (a_loader.wide)
    await_earlier_launches();
  else
    await_earlier_launches_alone();
  for (int s = 0; s < STAGES - 1; ++s, left -= DEPTH) {
    if (left > 0)
      copy_stage(&a_loader, &b_loader, panels + s * STAGE, along_k, m - i0, n - j0, left, t);
    commit_copies();
  }
  int stage = 0;
  const int whole = a_loader.wide && m - i0 >= ROWS && left >= DEPTH ? (int)(left / DEPTH) : 0;
  multiply_whole_stages(acc, &a_loader, &b_loader, panels, whole, along_k, n - j0, &stage, t);
  left -= (long)whole * DEPTH;
  for (long l0 = (long)whole * DEPTH; l0 < depth; l0 += DEPTH, left -= DEPTH) {
    await_copies(STAGES - 2);
    sync_group();
    const int next = stage == 0 ? STAGES - 1 : stage - 1;
    if (left > 0)
      copy_stage(&a_loader, &b_loader, panels + next * STAGE, along_k, m - i0, n - j0, left, t);
    commit_copies();
    const LOCAL_POINTER T* const panel = panels + stage * STAGE;
    const int steps = steps_of(depth - l0);
    if (along_k)
      multiply_steps(acc, panel + t % ROWS * PITCH, panel + PANEL_A, steps, true);
    else
      multiply_steps(acc, panel + t % ROWS, panel + PANEL_A, steps, false);
    stage = stage == STAGES - 1 ? 0 : stage + 1;
  }

  const long i = i0 + t;
  if (t >= ROWS || i < i1 || i >= m) return;
  c += c_offset + tile.batch * c_batch + i * c_row + j0 * c_col;
#pragma unroll
  for (int j = 0; j < COLS; ++j)
    if (j0 + j < n) finish(c + j * c_col, acc[j], alpha, beta, flags);
}
