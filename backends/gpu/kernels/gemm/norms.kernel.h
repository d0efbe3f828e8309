// Idea: the bounds of an exact product, before it or beside it. A group takes ROWS rows of A, or
// columns of B, SLICES work-items each, and writes their bounds and masks (certain.h): the 2-norm,
// rounded up, and its ratio to the power of two of which all elements are multiples. All groups
// clear the marks. Requires: f64, 256 work-items a group; tickets between groups if `splits` of
// them share a row.
//
//   Neighbouring work-items read along k where that has unit stride, else along the rows: 8 of them
//   read 32 bytes or more at once. A work-item has AT_ONCE elements on their way.
//   is_beside: the launch before is the product's own, which only reads A and B and stores chains.
//   So groups needn't wait for it, and take the multiprocessors that it leaves idle; one of them
//   does at its end, so that this launch isn't over before. It waited for those before it; A and B
//   are read past the L1 caches, which no wait has made current here.
//   Where groups share a row, each has `steps` of k, and the last one puts their parts together.
#define PLAIN_READS
#include "certain.h"
#include "norm_of.h"

#define ROWS 8
#define SLICES 32
#define THREADS (ROWS * SLICES)
#define AT_ONCE (128 / (int)sizeof(T))
#if T_float
#define BITS uint
#define OF_BITS as_float
#else
#define BITS ulong
#define OF_BITS as_double
#endif
#if HAVE_WARPS
#define SYNC_ROW sync_warp()
#else
#define SYNC_ROW sync()
#endif

// A part of a row or column: the sum of its squares, the least unit of its elements, less one of
// its last bit, and its mask.
typedef struct Part {
  double squares;
  ulong mask, least;
} Part;

// Work-item 0 of each row's SLICES gets all of their parts.
DEVICE void fold(LOCAL_POINTER double* squares, LOCAL_POINTER ulong* masks,
                 LOCAL_POINTER BITS* least, int t) {
#pragma unroll 1
  for (int apart = SLICES / 2; apart > 0; apart /= 2) {
    if (t % SLICES < apart) {
      squares[t] += squares[t + apart];
      masks[t] |= masks[t + apart];
      least[t] = least[t + apart] < least[t] ? least[t + apart] : least[t];
    }
    SYNC_ROW;
  }
}

// The mask of elements first + 0, 1, … of a slice, of which those in `present` aren't 0: a bit for
// 2^shift of them.
NOT_INLINED ulong mask_of(uint present, long first, int shift) {
  if (shift == 0) return (ulong)present << first;
  ulong mask = 0UL;
#pragma unroll 1
  for (int i = 0; i < shift && i < 5; ++i) present |= present >> (1 << i);
#pragma unroll 1
  for (int e = 0; e < AT_ONCE; e += 1 << shift)
    mask |= (ulong)(present >> e & 1u) << ((first + e) >> shift);
  return mask;
}

KERNEL_OF(norms, THREADS, 1)
(const GLOBAL T* a, long a_offset, long a_batch, long a_row, long a_col, const GLOBAL T* b,
 long b_offset, long b_batch, long b_row, long b_col, long m, long n, long k, int a_groups,
 int a_parts, int b_parts, GLOBAL double* space, long a_bounds, long b_bounds, long marks_at,
 long words, long masks_at, int shift, int splits, long steps, long parts_at, long counters_at,
 int is_beside) {
  LOCAL double squares[THREADS];
  LOCAL ulong masks[THREADS];
  LOCAL BITS leasts[THREADS];
  LOCAL int is_last[1];
  const int t = local_x();
  const bool of_a = group_x() < a_groups;
  const int block = group_x() / splits, split = group_x() - block * splits;
  const int group = of_a ? block : block - a_groups / splits, parts = of_a ? a_parts : b_parts;
  const int batch = group / parts;
  const long rows = of_a ? m : n, row_stride = of_a ? a_row : b_col, stride = of_a ? a_col : b_row;
  const long first = (long)(group - batch * parts) * ROWS;
  const bool along = stride == 1 || row_stride != 1;
  const int slice = along ? t % SLICES : t / ROWS, row = along ? t / SLICES : t % ROWS;
  const long begin = split * steps, left = k - begin < steps ? k - begin : steps;
  const long end = first + row < rows ? begin + left : begin;
  const volatile GLOBAL T* from =
      of_a ? a + a_offset + batch * a_batch : b + b_offset + batch * b_batch;
  from += (first + row) * row_stride + (begin + slice) * stride;
  GLOBAL uint* marks = (GLOBAL uint*)(space + marks_at);

  const bool waits_for_product = is_beside && group_x() == groups_x() - 1;

  if (!is_beside) await_earlier_launches();
  double sum = 0.0;
  ulong mask = 0UL;
  BITS least = AS_BITS((T)0x1p100f) - 1;  // so that zeros don't count
  for (long l = begin + slice; l < end; l += SLICES * AT_ONCE) {
    const int there = (int)((end - l + SLICES - 1) / SLICES);
    T x[AT_ONCE];
    if (stride == 1 && there >= AT_ONCE) {
#pragma unroll
      for (int e = 0; e < AT_ONCE; ++e) x[e] = from[e * SLICES];
    } else {
      const volatile GLOBAL T* next = from;
#pragma unroll
      for (int e = 0; e < AT_ONCE; ++e, next += SLICES * stride) x[e] = e < there ? *next : (T)0;
    }
    from += AT_ONCE * SLICES * stride;
    BITS most = 0;
#pragma unroll
    for (int e = 0; e < AT_ONCE; ++e) {
      const BITS own = AS_BITS(unit_of(x[e])) - 1;
      sum = fma((double)x[e], (double)x[e], sum);
      least = own < least ? own : least;
      most = own > most ? own : most;
    }
    uint present = ~0u >> (32 - AT_ONCE);
    if (most == ~(BITS)0)  // there are zeros
#pragma unroll
      for (int e = 0; e < AT_ONCE; ++e) present &= x[e] != (T)0 ? ~0u : ~(1u << e);
    mask |= mask_of(present, l / SLICES, shift);
  }
#pragma unroll 1
  for (long w = (long)group_x() * THREADS + t; w < words; w += (long)groups_x() * THREADS)
    marks[w] = 0u;
  squares[row * SLICES + slice] = sum;
  masks[row * SLICES + slice] = mask;
  leasts[row * SLICES + slice] = least;
  sync();
  fold(squares, masks, leasts, t);
  // The first work-items speak for the rows, one each.
  sync();
  const int mine = t % ROWS * SLICES;
  if (splits > 1) {
    GLOBAL Part* const all = (GLOBAL Part*)(space + parts_at) + (long)block * splits * ROWS;
    GLOBAL uint* const counter = (GLOBAL uint*)(space + counters_at) + block;
    if (t < ROWS) {
      Part part;
      part.squares = squares[mine], part.mask = masks[mine], part.least = leasts[mine];
      all[t * splits + split] = part;
    }
    sync_memory();
    if (t == 0) {
      is_last[0] = take_ticket(counter) == (uint)splits - 1u;
      if (is_last[0]) *counter = 0u;
    }
    sync();
    if (!is_last[0]) {
      if (waits_for_product) await_earlier_launches();
      return;
    }
    const int other = t % SLICES;
    const Part part = all[t / SLICES * splits + (other < splits ? other : 0)];
    squares[t] = other < splits ? part.squares : 0.0;
    masks[t] = part.mask, leasts[t] = (BITS)part.least;
    SYNC_ROW;
    fold(squares, masks, leasts, t);
    sync();
  }
  if (t < ROWS && first + t < rows) {
    const long lane = batch * rows + first + t;
    GLOBAL double* bound = space + (of_a ? a_bounds : b_bounds) + 2 * lane;
    const double norm = norm_of(squares[mine]);
    bound[0] = norm;
    bound[1] = norm / (double)OF_BITS(leasts[mine] + 1) * 0x1.00001p0;
    GLOBAL ulong* all_masks = (GLOBAL ulong*)(space + masks_at);
    all_masks[(of_a ? 0 : (b_bounds - a_bounds) / 2) + lane] = masks[mine];
  }
  if (waits_for_product) await_earlier_launches();
}
