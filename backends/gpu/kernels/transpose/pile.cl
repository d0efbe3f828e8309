// Idea: a group turns a pile of small matrices, as many as its local memory holds, or a piece of a long thin one.
// It beats `vector` there because no lane idles: neighbours take neighbouring elements of a row of the input,
// then of the output, and of the rows behind it, whatever the width.
// Requires: unit strides of the input's columns and the output's rows; a matrix within 16 KB, rows and columns
// within 256.
//
// A long thin matrix is a batch of pieces; its last piece lacks `missing_rows` or `missing_cols`. In local memory
// an empty word follows 32 others, so that columns fall on different banks.
#include "pack.h"

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

// Both sides of a pile: `count` matrices, all of whose lines are whole but for `lost_lines` of the last one and the
// last `lost_width` elements of each of its lines. Pieces of a line are vectors where all of them are aligned.
INLINED void load_pile(LOCAL_POINTER Element* pile, const GLOBAL uchar* from, long batch, long row,
                       int height, int width, int count, int lost_rows, int lost_cols,
                       const bool wide, int t) {
  const int unit = wide ? LANES : 1, across = width / unit, at_once = wide ? 4 : AT_ONCE;
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
        for (int l = 0; l < LANES; ++l) pile[GAPPED(at) + l] = e[l];
      }
      if (left > 0 && !wide) pile[GAPPED(at)] = e[s];
      left -= w.step;
      at += w.step * width;
    }
  }
}

INLINED void store_pile(const LOCAL_POINTER Element* pile, GLOBAL uchar* to, long batch, long col,
                        int height, int width, int count, int lost_rows, int lost_cols,
                        const bool wide, int t) {
  const int unit = wide ? LANES : 1, across = height / unit;
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
      for (int l = 0; l < LANES; ++l) e[l] = pile[GAPPED(at + l * width)];
      *(GLOBAL uint4*)to = pack(e);
    } else {
      store_element(to, pile[GAPPED(at)], whole);
    }
    to += step;
    at += w.step_matrices * area + w.step_lines;
    if (lines_on(&w)) {
      to += wrap;
      at += area - width;
    }
  }
}

KERNEL_BOUNDED(pile, THREADS, 1, 6)
(TRANSPOSE_ARGUMENTS, long batch, int missing_rows, int missing_cols) {
  LOCAL ALIGNED(16) Element pile[GAPPED(PILE) + 1];
  const int t = local_x(), height = (int)rows, width = (int)cols, most = PILE / (height * width);
  const long first = (long)group_x() * most;
  const int count = batch - first < most ? (int)(batch - first) : most;
  const int lost_rows = first + count == batch ? missing_rows : 0;
  const int lost_cols = first + count == batch ? missing_cols : 0;
  const GLOBAL uchar* from = in + in_offset + first * in_batch * BYTES;
  GLOBAL uchar* to = out + out_offset + first * out_batch * BYTES;
  const bool vectors = LANES > 1 && missing_rows + missing_cols == 0;
  if (vectors && width % LANES == 0 && is_wide(from, 1, in_row, in_batch))
    load_pile(pile, from, in_batch, in_row, height, width, count, 0, 0, true, t);
  else
    load_pile(pile, from, in_batch, in_row, height, width, count, lost_rows, lost_cols, false, t);
  sync();
  if (vectors && height % LANES == 0 && is_wide(to, 1, out_col, out_batch))
    store_pile(pile, to, out_batch, out_col, height, width, count, 0, 0, true, t);
  else
    store_pile(pile, to, out_batch, out_col, height, width, count, lost_rows, lost_cols, false, t);
}

// --- Matrices that lie behind each other without gaps, on both sides ---------------------------------
// Neighbours take neighbouring elements, whatever the lines; in local memory they lie as they will in the output. A
// kernel of its own: as a branch of `pile` it lost the device through NVIDIA's OpenCL, at shapes that didn't take it.

INLINED void load_packed(LOCAL_POINTER Element* pile, const GLOBAL uchar* from, int height,
                         int width, int total, int t) {
  const int area = height * width, by_line = THREADS / width % height, by_j = THREADS % width;
  const int step = THREADS / area * area + by_j * height + by_line;
  const bool whole = is_aligned(from, BYTES);
  int j = t % width, i = t / width % height, at = t / area * area + j * height + i;
  from += t * BYTES;
  for (int p = t; p < total;) {
    Element e[AT_ONCE];
#pragma unroll
    for (int s = 0; s < AT_ONCE; ++s)
      if (p + s * THREADS < total) e[s] = load_element(from + s * THREADS * BYTES, whole);
    from += AT_ONCE * THREADS * BYTES;
#pragma unroll
    for (int s = 0; s < AT_ONCE; ++s, p += THREADS) {
      if (p < total) pile[at] = e[s];
      j += by_j;
      i += by_line;
      at += step;
      if (j >= width) {
        j -= width;
        i += 1;
        at += 1 - area;
      }
      if (i >= height) {
        i -= height;
        at += area - height;
      }
    }
  }
}

INLINED void store_packed(const LOCAL_POINTER Element* pile, GLOBAL uchar* to, int total, int t) {
  const bool whole = is_aligned(to, BYTES);
#pragma unroll 8
  for (int p = t; p < total; p += THREADS) store_element(to + p * BYTES, pile[p], whole);
}

KERNEL_BOUNDED(pile_packed, THREADS, 1, 6)
(TRANSPOSE_ARGUMENTS, long batch, int missing_rows, int missing_cols) {
  LOCAL ALIGNED(16) Element pile[PILE];
  const int t = local_x(), height = (int)rows, width = (int)cols, area = height * width;
  const int most = PILE / area;
  const long first = (long)group_x() * most;
  const int total = (batch - first < most ? (int)(batch - first) : most) * area;
  load_packed(pile, in + in_offset + first * in_batch * BYTES, height, width, total, t);
  sync();
  store_packed(pile, out + out_offset + first * out_batch * BYTES, total, t);
}

// --- Runs: a side of a long thin matrix without gaps -------------------------------------------------
// It is moved in whole vectors, as in local memory a run begins as far behind a boundary of 16 bytes as in memory.

#if BYTES < 4
#define RUN_AT(x) ((x) + (x) / (128 / BYTES) * PER_WORD)
#define WORD_PART(word, l) (Element)((word) >> (l)*BYTES * 8)
typedef uint Word; /* what a work-item moves on the long side of a thin matrix */
#define RUN (RUN_AT(PILE + LANES) + LANES)

DEVICE int run_shift(const GLOBAL uchar* run) {
  return is_aligned(run, BYTES) ? (int)((ulong)run % 16) / BYTES : 0;
}

// Vector v of a run in local memory.
DEVICE void run_put(LOCAL_POINTER Element* pile, int v, uint4 x) {
  LOCAL_POINTER uint* words = (LOCAL_POINTER uint*)(pile + RUN_AT(v * LANES));
  words[0] = x.x, words[1] = x.y, words[2] = x.z, words[3] = x.w;
}

DEVICE uint4 run_get(const LOCAL_POINTER Element* pile, int v) {
  const LOCAL_POINTER uint* words = (const LOCAL_POINTER uint*)(pile + RUN_AT(v * LANES));
  return make_uint4(words[0], words[1], words[2], words[3]);
}

// Is element `at`, which work-item t < LANES may have, before the run's first whole vector or behind its last?
DEVICE bool is_edge(int at, int begin, int end) {
  return at >= begin && at < end &&
         (at < (begin + LANES - 1) / LANES * LANES || at >= end / LANES * LANES);
}

// `count` elements, whose first one is at run_shift() in local memory.
INLINED void load_run(LOCAL_POINTER Element* pile, const GLOBAL uchar* from, int count, int t) {
  if (!is_aligned(from, BYTES)) {
    for (int p = t; p < count; p += THREADS)
      pile[RUN_AT(p)] = load_element(from + p * BYTES, false);
    return;
  }
  const int begin = run_shift(from), end = begin + count;
  from -= begin * BYTES;
  for (int first = t; first * LANES < end; first += 4 * THREADS) {
    uint4 x[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int v = first + k * THREADS;
      if (v * LANES >= begin && (v + 1) * LANES <= end)
        x[k] = *(const GLOBAL uint4*)(from + v * 16);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int v = first + k * THREADS;
      if (v * LANES >= begin && (v + 1) * LANES <= end) run_put(pile, v, x[k]);
    }
  }
  const int last = end / LANES * LANES + t;
  if (t < LANES && is_edge(t, begin, end)) pile[RUN_AT(t)] = load_element(from + t * BYTES, true);
  if (t < LANES && is_edge(last, begin, end))
    pile[RUN_AT(last)] = load_element(from + last * BYTES, true);
}

INLINED void store_run(const LOCAL_POINTER Element* pile, GLOBAL uchar* to, int count, int t) {
  if (!is_aligned(to, BYTES)) {
    for (int p = t; p < count; p += THREADS) store_element(to + p * BYTES, pile[RUN_AT(p)], false);
    return;
  }
  const int begin = run_shift(to), end = begin + count;
  to -= begin * BYTES;
#pragma unroll 4
  for (int v = t; v * LANES < end; v += THREADS)
    if (v * LANES >= begin && (v + 1) * LANES <= end)
      *(GLOBAL uint4*)(to + v * 16) = run_get(pile, v);
  const int last = end / LANES * LANES + t;
  if (t < LANES && is_edge(t, begin, end)) store_element(to + t * BYTES, pile[RUN_AT(t)], true);
  if (t < LANES && is_edge(last, begin, end))
    store_element(to + last * BYTES, pile[RUN_AT(last)], true);
}

// A long thin matrix of which the narrow side has no gaps: a piece is a run there, and on the other side words of all its
// lines, which begin and end anywhere.
typedef struct Piece {
  int lines, sweeps, count;  // words of a line for each work-item; elements of a line
  int shift;                 // of the run
  long pitch;                // of the lines, in bytes
} Piece;

#define PIECE_WORDS (PILE / PER_WORD / THREADS) /* a work-item's, at most */

// A work-item's walk over its words of all lines: in which line it is, and at which of the line's elements the word begins.
typedef struct Words {
  int line, sweep, p;
  long offset;  // of the line, in bytes
} Words;

// The first one of a line whose own words begin `lead` elements before it.
DEVICE int first_word(const GLOBAL uchar* side, long offset, int t) {
  const int lead = (int)((uint)(ulong)side + (uint)offset) / BYTES % PER_WORD;
  return t * PER_WORD - lead;
}

DEVICE Words words_begin(const GLOBAL uchar* side, int t) {
  Words w;
  w.line = w.sweep = 0;
  w.offset = 0;
  w.p = first_word(side, 0, t);
  return w;
}

DEVICE void words_on(Words* w, const Piece* piece, const GLOBAL uchar* side, int t) {
  w->p += THREADS * PER_WORD;
  w->sweep += 1;
  if (w->sweep < piece->sweeps) return;
  w->sweep = 0;
  w->line += 1;
  w->offset += piece->pitch;
  w->p = first_word(side, w->offset, t);
}

// Has the line all of the word?
DEVICE bool words_has(const Words* w, const Piece* piece) {
  return w->line < piece->lines && w->p >= 0 && w->p + PER_WORD <= piece->count;
}

// The k-th element of a line that isn't part of a whole word of it; from `count` on there is none.
DEVICE int line_rest(const Piece* piece, const GLOBAL uchar* side, long offset, int k) {
  const int lead = -first_word(side, offset, 0), front = (PER_WORD - lead) % PER_WORD;
  const int back = (piece->count + lead) / PER_WORD * PER_WORD - lead;
  return k < front ? k : k - front + (back > front ? back : front);
}

INLINED void piece_load(LOCAL_POINTER Element* pile, const GLOBAL uchar* from, const Piece* piece,
                        int t) {
  Words w = words_begin(from, t), then = w;
#pragma unroll 1
  while (w.line < piece->lines) {
    Word x[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      if (words_has(&w, piece)) x[k] = *(const GLOBAL Word*)(from + w.offset + w.p * BYTES);
      words_on(&w, piece, from, t);
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      int at = piece->shift + then.p * piece->lines + then.line;
      if (words_has(&then, piece)) {
#pragma unroll
        for (int l = 0; l < PER_WORD; ++l, at += piece->lines)
          pile[RUN_AT(at)] = WORD_PART(x[k], l);
      }
      words_on(&then, piece, from, t);
    }
  }
  const int line = t % piece->lines;
  const long offset = line * piece->pitch;
  const int p = line_rest(piece, from, offset, t / piece->lines);
  if (p < piece->count)
    pile[RUN_AT(piece->shift + p * piece->lines + line)] =
        load_element(from + offset + p * BYTES, true);
}

INLINED void piece_store(const LOCAL_POINTER Element* pile, GLOBAL uchar* to, const Piece* piece,
                         int t) {
  Words w = words_begin(to, t);
#pragma unroll 4
  while (w.line < piece->lines) {
    int at = piece->shift + w.p * piece->lines + w.line;
    if (words_has(&w, piece)) {
      Element e[PER_WORD];
#pragma unroll
      for (int l = 0; l < PER_WORD; ++l, at += piece->lines) e[l] = pile[RUN_AT(at)];
      *(GLOBAL Word*)(to + w.offset + w.p * BYTES) = WORD_OF(e);
    }
    words_on(&w, piece, to, t);
  }
  const int line = t % piece->lines;
  const long offset = line * piece->pitch;
  const int p = line_rest(piece, to, offset, t / piece->lines);
  if (p < piece->count)
    store_element(to + offset + p * BYTES, pile[RUN_AT(piece->shift + p * piece->lines + line)],
                  true);
}

KERNEL_BOUNDED(pile_thin, THREADS, 1, 6)
(TRANSPOSE_ARGUMENTS, long batch, int missing_rows, int missing_cols) {
  LOCAL ALIGNED(16) Element pile[RUN];
  const int t = local_x();
  const bool tall = rows > cols;
  Piece piece;
  piece.lines = (int)(tall ? cols : rows);
  piece.sweeps = PIECE_WORDS / piece.lines;
  piece.pitch = (tall ? out_col : in_row) * BYTES;
  const int most = piece.sweeps * THREADS * PER_WORD;
  const long first = (long)group_x() * most, left = (tall ? rows : cols) - first;
  piece.count = left < most ? (int)left : most;
  const long narrow = first * piece.lines * BYTES, wide = first * BYTES;
  const GLOBAL uchar* from = in + in_offset + (tall ? narrow : wide);
  GLOBAL uchar* to = out + out_offset + (tall ? wide : narrow);
  piece.shift = run_shift(tall ? from : to);
  if (tall)
    load_run(pile, from, piece.count * piece.lines, t);
  else
    piece_load(pile, from, &piece, t);
  sync();
  if (tall)
    piece_store(pile, to, &piece, t);
  else
    store_run(pile, to, piece.count * piece.lines, t);
}
#endif
