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

// Work-items side by side on a row of `count` copies.
#define ACROSS(count) ((count) < THREADS ? (count) : THREADS)

DEVICE Source source_of(const GLOBAL T* x, long row_stride, long unit_stride, long batch_stride,
                        long row0, long unit0, const int width, int t) {
  Source s;
  s.wide =
      unit_stride == 1 && (((ulong)x | (ulong)(row_stride | batch_stride) * sizeof(T)) & 15) == 0;
  const int across = s.wide ? ACROSS(width / WIDTH) : ACROSS(width);
  const int row = t / across, first = t % across * (s.wide ? WIDTH : 1);
  s.from = x + (row0 + row) * row_stride + (unit0 + first) * unit_stride;
  s.row_stride = row_stride;
  s.unit_stride = unit_stride;
  return s;
}

// Copies a panel, of which `rows` x `units` lie inside the matrix: all of it if `whole`.
DEVICE void copy_part(const Source* s, LOCAL_POINTER T* panel, const bool wide, const bool whole,
                      const int height, const int width, int rows, int units, int t) {
  const int step = wide ? WIDTH : 1, across = ACROSS(width / step), down = THREADS / across;
  const int row = t / across, first = t % across * step;
  const long unit_stride = wide ? 1 : s->unit_stride;
  const GLOBAL T* from = s->from;
  LOCAL_POINTER T* to = panel + row * PITCH(width) + first;
#pragma unroll
  for (int r = 0; r < height; r += down, from += down * s->row_stride)
#pragma unroll
    for (int e = 0; e < width; e += across * step) {
      const int left = row + r < rows ? units - first - e : 0;
      if (wide && whole)
        fetch_vector(to + r * PITCH(width) + e, from + e);
      else if (wide)
        copy_vector(to + r * PITCH(width) + e, from + e, left < 0 ? 0 : left < WIDTH ? left : WIDTH);
      else if (whole)
        fetch_element(to + r * PITCH(width) + e, from + e * unit_stride);
      else
        copy_element(to + r * PITCH(width) + e, from + e * unit_stride, left > 0);
    }
}

DEVICE void copy_source(const Source* s, LOCAL_POINTER T* panel, const int height, const int width,
                        int rows, int units, int t) {
  const bool whole = rows == height && units == width;
  if (s->wide && whole)
    copy_part(s, panel, true, true, height, width, rows, units, t);
  else if (s->wide)
    copy_part(s, panel, true, false, height, width, rows, units, t);
  else if (whole)
    copy_part(s, panel, false, true, height, width, rows, units, t);
  else
    copy_part(s, panel, false, false, height, width, rows, units, t);
}
