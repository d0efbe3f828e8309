// Panels of one operand for tensor cores, as they lie in memory: `height` rows of `width` elements,
// of which those of a row have unit stride in memory; in local memory a row takes width + 4. With
// k along the rows that is panel[lane][k], else panel[k][lane]; the fragments' reads of single
// elements (4 steps x 4 lanes a half warp) fall into 16 different pairs of banks either way.
// What lies outside of the matrix is zero.
#define PITCH(width) ((width) + 4)

typedef struct Source {
  const GLOBAL T* from;  // this work-item's first element of the next panel
  long row_stride, unit_stride;
  bool wide;  // all rows start at multiples of 16 bytes
} Source;

// How many work-items copy side by side on a row of `width` elements, one each or, `wide`, two: the most up to 32 that
// divide the row's copies. A row of 56 is copied by 8 or, wide, 4 of them, one of 112 by 16 or 8.
#define BESIDE(width, wide)                 \
  ((width) % ((wide) ? 64 : 32) == 0   ? 32 \
   : (width) % ((wide) ? 32 : 16) == 0 ? 16 \
   : (width) % ((wide) ? 16 : 8) == 0  ? 8  \
                                       : 4)

// What copy_part asks of a panel: no work-item is left over, neither at a row's end nor in the last rows.
#define CAN_COPY_BY(height, width, beside, count) \
  ((width) % ((beside) * (count)) == 0 && (height) % (THREADS / (beside)) == 0)
#define CAN_COPY(height, width)                              \
  (CAN_COPY_BY(height, width, BESIDE(width, true), WIDTH) && \
   CAN_COPY_BY(height, width, BESIDE(width, false), 1))

DEVICE Source source_of(const GLOBAL T* x, long row_stride, long unit_stride, long batch_stride,
                        long row0, long unit0, const int width, int t) {
  Source s;
  s.wide =
      unit_stride == 1 && (((ulong)x | (ulong)(row_stride | batch_stride) * sizeof(T)) & 15) == 0;
  const int beside = s.wide ? BESIDE(width, true) : BESIDE(width, false);
  s.from = x + (row0 + t / beside) * row_stride +
           (unit0 + t % beside * (s.wide ? WIDTH : 1)) * unit_stride;
  s.row_stride = row_stride;
  s.unit_stride = unit_stride;
  return s;
}

// Copies a panel, of which `rows` x `units` lie inside the matrix; the rest is zero.
DEVICE void copy_part(const Source* s, LOCAL_POINTER T* panel, const bool wide, const int height,
                      const int width, int rows, int units, int t) {
  const int beside = BESIDE(width, wide), count = wide ? WIDTH : 1, run = beside * count;
  const int apart = THREADS / beside, row = t / beside, first = t % beside * count;
  const long run_step = run * s->unit_stride;
  const long row_step = apart * s->row_stride - (width / run - 1) * run_step;
  const GLOBAL T* from = s->from;
  LOCAL_POINTER T* to = panel + row * PITCH(width) + first;
  if (rows == height && units == width) {
    // Each address is made from the one before. Where the copying warps have few registers (KEEP), a copy therefore
    // waits until the one before has left, and the queue of memory instructions, where multiplying warps wait, too,
    // stays short.
#pragma unroll
    for (int r = 0; r < height; r += apart)
#pragma unroll
      for (int e = 0; e < width; e += run) {
        if (wide)
          fetch_vector(to + r * PITCH(width) + e, from);
        else
          fetch_element(to + r * PITCH(width) + e, from);
        from += e + run < width ? run_step : row_step;
      }
  } else {
    // Unrolled, this part takes the few registers that the copies above need: 96x112 then takes 91 µs instead of 65 at
    // n = 1087. With more registers the loop costs time: 1.95 µs instead of 1.72 by 16x32 at 63.
#if KEEP
#pragma unroll 1
#else
#pragma unroll
#endif
    for (int r = row; r < height; r += apart, to += apart * PITCH(width))
#pragma unroll
      for (int e = 0; e < width; e += run) {
        const int left = r < rows ? units - first - e : 0;
        if (wide)
          copy_vector(to + e, from, left < 0 ? 0 : left < WIDTH ? left : WIDTH);
        else
          copy_element(to + e, from, left > 0);
        from += e + run < width ? run_step : row_step;
      }
  }
}

DEVICE void copy_source(const Source* s, LOCAL_POINTER T* panel, const int height, const int width,
                        int rows, int units, int t) {
  if (s->wide)
    copy_part(s, panel, true, height, width, rows, units, t);
  else
    copy_part(s, panel, false, height, width, rows, units, t);
}
