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

DEVICE Source source_of(const GLOBAL T* x, long row_stride, long unit_stride, long batch_stride,
                        long row0, long unit0, const int width, int t) {
  Source s;
  s.wide =
      unit_stride == 1 && (((ulong)x | (ulong)(row_stride | batch_stride) * sizeof(T)) & 15) == 0;
  const int first = s.wide ? t % (width / WIDTH) * WIDTH : t % width;
  const int row = s.wide ? t / (width / WIDTH) : t / width;
  s.from = x + (row0 + row) * row_stride + (unit0 + first) * unit_stride;
  s.row_stride = row_stride;
  s.unit_stride = unit_stride;
  return s;
}

// Copies a panel, of which `rows` x `units` lie inside the matrix: all of it if `whole`.
DEVICE void copy_part(const Source* s, LOCAL_POINTER T* panel, const bool whole, const int height,
                      const int width, int rows, int units, int t) {
  const GLOBAL T* from = s->from;
  if (s->wide) {
    const int vectors = width / WIDTH, row = t / vectors, first = t % vectors * WIDTH;
    const int at_once = THREADS / vectors;
    if (THREADS % vectors != 0 && row >= at_once) return;  // work-items that are left over
    const int left = units - first, count = left < 0 ? 0 : left < WIDTH ? left : WIDTH;
    LOCAL_POINTER T* to = panel + row * PITCH(width) + first;
#pragma unroll
    for (int r = 0; r < height; r += at_once, from += at_once * s->row_stride)
      if (height % at_once != 0 && row + r >= height)
        break;
      else if (whole)
        fetch_vector(to + r * PITCH(width), from);
      else
        copy_vector(to + r * PITCH(width), from, row + r < rows ? count : 0);
  } else {
    const int row = t / width, first = t % width, at_once = THREADS / width;
    if (THREADS % width != 0 && row >= at_once) return;
    LOCAL_POINTER T* to = panel + row * PITCH(width) + first;
#pragma unroll
    for (int r = 0; r < height; r += at_once, from += at_once * s->row_stride)
      if (height % at_once != 0 && row + r >= height)
        break;
      else if (whole)
        fetch_element(to + r * PITCH(width), from);
      else
        copy_element(to + r * PITCH(width), from, row + r < rows && first < units);
  }
}

DEVICE void copy_source(const Source* s, LOCAL_POINTER T* panel, const int height, const int width,
                        int rows, int units, int t) {
  if (rows == height && units == width)
    copy_part(s, panel, true, height, width, rows, units, t);
  else
    copy_part(s, panel, false, height, width, rows, units, t);
}
