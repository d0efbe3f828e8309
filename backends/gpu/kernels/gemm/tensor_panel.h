// Panels of one operand for tensor cores, as they lie in memory: `height` rows of `width` elements.
// The elements of a row have unit stride in memory; where these run along k that is
// panel[line][k], else panel[k][line]; a line is a row of A or a column of B. A row takes PITCH
// elements, so the fragments' reads of single elements (4 steps x 4 lines a half warp) fall into 16
// different pairs of banks either way. A warp reads 4 steps x 8 lines of f32 at once: steps are 8
// or 24 banks apart then. Elements outside of the matrix are zero.
//
// ODD_ROWS 1: rows that are an odd number of elements apart are copied as vectors, too, each from
// the 16 bytes that it begins in, to the same place of 32 bytes that it has in memory: a sector
// whose halves went to different 32 bytes would be fetched twice. So row r begins shift_of(row) = 0
// to 3 elements after its PLACE. Four rows in turn have four shifts, rows 4 apart have the same.
// After every 4 rows 4 elements are left out, and half warps read lines that are 4 apart (line_of),
// so they use different banks again.
#define PITCH(size, by_lanes) ((by_lanes) ? DEPTH + 4 : (size) + (WIDTH == 4 ? 8 : 4))
#define PLACE(row, pitch) ((row) * (pitch) + (ODD_ROWS ? (row) / 4 * 4 : 0))

// How a work-item copies its rows of a panel that isn't whole. true: in a loop over `height` rows,
// which the compiler can count and unroll; false: in a loop that begins at its first row.
#ifndef COUNTED_ROWS
#define COUNTED_ROWS false
#endif

typedef struct Source {
  const GLOBAL T* from;  // this work-item's first element of the next panel
  long row_stride, unit_stride;
  bool wide, odd;  // copied by 16 bytes; wide: each row starts at 16 bytes, odd: anywhere
  int shift;       // of this work-item's odd rows
} Source;

DEVICE bool are_odd(long row_stride, long unit_stride) {
  return ODD_ROWS && unit_stride == 1 && row_stride % 2 != 0;
}

// By how many elements x lies after the 32 bytes that it is in.
DEVICE int shift_of(const GLOBAL T* x) { return (int)((ulong)x % 32 / sizeof(T)); }

// The row or column of a tile that index `i` stands for. Where rows are odd, i ... i + 3 stand for
// rows that are 4 apart.
DEVICE int line_of(int i, bool odd) {
  return odd ? i / 16 * 16 + i % 4 * 4 + i % 8 / 4 + i % 16 / 8 * 2 : i;
}

// How many work-items copy a row of `width` elements together, by single elements or, if `wide`, by
// vectors: the largest number up to 32 that divides the row's copies. A row of 56 is copied by 8
// or, wide, 4 of them, one of 112 by 16 or 8.
#define BESIDE(width, wide)                          \
  ((width) % (32 * ((wide) ? WIDTH : 1)) == 0   ? 32 \
   : (width) % (16 * ((wide) ? WIDTH : 1)) == 0 ? 16 \
   : (width) % (8 * ((wide) ? WIDTH : 1)) == 0  ? 8  \
                                                : 4)

// The conditions of copy_part on a panel: no work-item is left over, neither at a row's end nor in
// the last rows; a work-item's rows are a multiple of 4 apart, and no more than there are
// work-items beside each other.
#define CAN_COPY_BY(height, width, beside, count)                                 \
  ((width) % ((beside) * (count)) == 0 && (height) % (THREADS / (beside)) == 0 && \
   (!ODD_ROWS || (THREADS / (beside) % 4 == 0 && (height) <= THREADS / (beside) * (beside))))
#define CAN_COPY(height, width)                              \
  (CAN_COPY_BY(height, width, BESIDE(width, true), WIDTH) && \
   CAN_COPY_BY(height, width, BESIDE(width, false), 1))

DEVICE Source source_of(const GLOBAL T* x, long row_stride, long unit_stride, long batch_stride,
                        long row0, long unit0, const int width, int t) {
  Source s;
  s.odd = are_odd(row_stride, unit_stride);
  s.wide =
      unit_stride == 1 && (((ulong)x | (ulong)(row_stride | batch_stride) * sizeof(T)) & 15) == 0;
  const bool wide = s.wide || s.odd;
  const int beside = wide ? BESIDE(width, true) : BESIDE(width, false);
  s.from = x + (row0 + t / beside) * row_stride + unit0 * unit_stride;
  s.shift = s.odd ? shift_of(s.from) : 0;
  s.from += t % beside * (wide ? WIDTH : 1) * unit_stride - s.shift % 2;
  s.row_stride = row_stride;
  s.unit_stride = unit_stride;
  return s;
}

// The same number, which the compiler doesn't know before this place. So it compares it here, and
// not before the loop over stages, where each result would keep one of seven predicate registers
// until the loop ends.
#if HAVE_PTX
DEVICE int asked_here(int x) {
  __asm__ volatile("" : "+r"(x));
  return x;
}
#else
#define asked_here(x) (x)
#endif

// Copies a panel, of which `rows` x `units` lie inside the matrix; the rest is zero. `wide` and
// `odd` are constants.
DEVICE void copy_part(const Source* s, LOCAL_POINTER T* panel, const bool wide, const bool odd,
                      const int height, const int width, const int pitch, int rows, int units,
                      int t) {
  const int beside = BESIDE(width, wide), count = wide ? WIDTH : 1, run = beside * count;
  const int apart = THREADS / beside, row = t / beside, first = t % beside * count;
  const long run_step = run * s->unit_stride;
  const long row_step = apart * s->row_stride - (width / run - 1) * run_step;
  const int shift = odd ? s->shift : 0, before = shift % 2;
  const GLOBAL T* from = s->from;
  LOCAL_POINTER T* to = panel + PLACE(row, pitch) + shift - before + first;
  if (odd) {
    // If a row begins between vectors, its last element is still to be copied. `beside` work-items
    // share the rows row, row + apart, ...: the first one copies it for the first of these rows,
    // the second one for the second, and so on; `skip` is the way to that row. For rows that begin
    // at a vector nothing is read, and a zero is stored behind their end.
    const int skip = first / count * apart;
    if (skip < height)
      copy_element(to + PLACE(skip, pitch) + (width - first),
                   from + skip * s->row_stride + (width - first),
                   before != 0 && row + skip < rows && units == width);
  }
  if (rows == height && units == width) {
    // Each address is made from the one before. Where the copying warps have few registers
    // (COPIER_REGISTERS), a copy therefore waits until the one before has left, and the queue of
    // memory instructions, where multiplying warps wait, too, stays short.
#pragma unroll
    for (int r = 0; r < height; r += apart)
#pragma unroll
      for (int e = 0; e < width; e += run) {
        if (wide)
          fetch_vector(to + PLACE(r, pitch) + e, from);
        else
          fetch_element(to + PLACE(r, pitch) + e, from);
        from += e + run < width ? run_step : row_step;
      }
    return;
  }
  // The last stage is copied below, or a tile that is less than whole. In small products
  // multiplying warps wait for those that copy, stage after stage: nothing from here may make the
  // copies above longer.
  const int left = asked_here(units) + before - first;
  const int begin = COUNTED_ROWS ? 0 : row, ahead = row - begin,
            step = COUNTED_ROWS ? 0 : PLACE(apart, pitch);
  if (wide && !odd && left < width && ends_within_vector(left % run)) {
    // Asked at each vector, as below for odd rows, it would cost even ones 15 % (n = 500).
#pragma unroll 1
    for (int r = begin; r < height; r += apart, to += step)
#pragma unroll 1
      for (int e = 0; e < width; e += run) {
        copy_end(to + (COUNTED_ROWS ? PLACE(r, pitch) : 0) + e, from,
                 r + ahead < rows ? left - e : 0);
        from += e + run < width ? run_step : row_step;
      }
  } else {
    // Unrolled, this part takes the few registers that the copies above need: 96x112 then takes 91
    // µs instead of 65 at n = 1087. With more registers the loop costs time: 1.95 µs instead of
    // 1.72 by 16x32 at 63.
#if COPIER_REGISTERS
#pragma unroll 1
#else
#pragma unroll
#endif
    for (int r = begin; r < height; r += apart, to += step)
#pragma unroll
      for (int e = 0; e < width; e += run) {
        const bool inside = r + ahead < rows && e < left;
        LOCAL_POINTER T* const place = to + (COUNTED_ROWS ? PLACE(r, pitch) : 0) + e;
        if (odd && inside && left - e == 1)
          copy_end(place, from, 1);
        else if (wide)
          copy_vector(place, from, inside);
        else
          copy_element(place, from, inside);
        from += e + run < width ? run_step : row_step;
      }
  }
}

DEVICE void copy_source(const Source* s, LOCAL_POINTER T* panel, const int height, const int width,
                        const int pitch, int rows, int units, int t) {
  if (ODD_ROWS && s->odd)
    copy_part(s, panel, true, true, height, width, pitch, rows, units, t);
  else if (s->wide)
    copy_part(s, panel, true, false, height, width, pitch, rows, units, t);
  else
    copy_part(s, panel, false, false, height, width, pitch, rows, units, t);
}
