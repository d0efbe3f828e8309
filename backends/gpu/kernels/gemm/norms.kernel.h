// Idea: the first launch of an exact product. A group takes ROWS rows of A, or columns of B, SLICES
// work-items each, and writes their bounds and masks (certain.h): the 2-norm, rounded up, and its
// ratio to the power of two of which all elements are multiples. All groups clear the marks.
// Requires: f64, 256 work-items a group.
//
//   Neighbouring work-items read along k where that has unit stride, else along the rows: 8 of them
//   read 32 bytes or more at once.
#define PLAIN_READS
#include "norm_of.h"
#include "problem.h"

#define ROWS 8
#define SLICES 32
#define THREADS 256
#define AT_ONCE 4

KERNEL_OF(norms, THREADS, 1)
(const GLOBAL T* a, long a_offset, long a_batch, long a_row, long a_col, const GLOBAL T* b,
 long b_offset, long b_batch, long b_row, long b_col, long m, long n, long k, int a_groups,
 int a_parts, int b_parts, GLOBAL double* space, long a_bounds, long b_bounds, long marks_at,
 long words, long masks_at, int shift) {
  LOCAL double sums[THREADS];
  LOCAL T units[THREADS];
  LOCAL ulong masks[THREADS];
  const int t = local_x();
  const bool of_a = group_x() < a_groups;
  const int group = of_a ? group_x() : group_x() - a_groups, parts = of_a ? a_parts : b_parts;
  const int batch = group / parts;
  const long rows = of_a ? m : n, row_stride = of_a ? a_row : b_col, stride = of_a ? a_col : b_row;
  const bool along = stride == 1 || row_stride != 1;
  const int slice = along ? t % SLICES : t / ROWS, next = along ? 1 : ROWS;
  const long row = (long)(group % parts) * ROWS + (along ? t / SLICES : t % ROWS);
  const GLOBAL T* from = of_a ? a + a_offset + batch * a_batch : b + b_offset + batch * b_batch;
  from += row * row_stride;
  GLOBAL uint* marks = (GLOBAL uint*)(space + marks_at);

  await_earlier_launches();
  for (long w = (long)group_x() * THREADS + t; w < words; w += (long)groups_x() * THREADS)
    marks[w] = 0u;
  double sum = 0.0;
  T unit = (T)0x1p100f;
  ulong mask = 0UL;
  const long end = row < rows ? k : 0;
  for (long l = slice; l < end; l += SLICES * AT_ONCE) {
    T x[AT_ONCE];
#pragma unroll
    for (int e = 0; e < AT_ONCE; ++e)
      x[e] = l + e * SLICES < end ? from[(l + e * SLICES) * stride] : (T)0;
#pragma unroll
    for (int e = 0; e < AT_ONCE; ++e) {
      const T own = unit_of(x[e]);
      sum = fma((double)x[e], (double)x[e], sum);
      unit = own < unit && x[e] != (T)0 ? own : unit;
      mask |= x[e] != (T)0 ? 1UL << ((l + e * SLICES) >> shift) : 0UL;
    }
  }
  for (int apart = SLICES / 2; apart > 0; apart /= 2) {
    sums[t] = sum;
    units[t] = unit;
    masks[t] = mask;
    sync();
    if (slice < apart) {
      sum += sums[t + apart * next];
      unit = units[t + apart * next] < unit ? units[t + apart * next] : unit;
      mask |= masks[t + apart * next];
    }
    sync();
  }
  if (slice == 0 && row < rows) {
    GLOBAL double* bound = space + (of_a ? a_bounds : b_bounds) + 2 * (batch * rows + row);
    const double norm = norm_of(sum);
    bound[0] = norm;
    bound[1] = norm / (double)unit * 0x1.00001p0;
    GLOBAL ulong* all_masks = (GLOBAL ulong*)(space + masks_at);
    all_masks[(of_a ? 0 : (b_bounds - a_bounds) / 2) + batch * rows + row] = mask;
  }
}
