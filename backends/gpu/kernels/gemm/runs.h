// Matrices without gaps, each a run of memory. In local memory they lie in the same way, with
// vectors at multiples of 16 bytes. The first and last elements may not fill a vector.
#pragma once
#include "copy.h"

// The place in local memory of the run that begins at `x`, such that vectors of memory are vectors
// there.
DEVICE int head_of(const GLOBAL T* x) { return (int)((ulong)x % 16 / sizeof(T)); }

// Begins to copy a run of `count` elements.
DEVICE void copy_run(LOCAL_POINTER T* to, const GLOBAL T* from, int count) {
  const int head = head_of(from), end = head + count;
  from -= head;
#pragma unroll 4
  for (int i = local_x() * 2; i < end; i += THREADS * 2)
    if (i >= head && i + 1 < end)
      fetch_vector(to + i, from + i);
    else
      fetch_element(to + max(i, head), from + max(i, head));
}

// Stores a run of C from its sums.
DEVICE void store_run(GLOBAL T* c, const LOCAL_POINTER T* sums, int count, T alpha, T beta,
                      int flags) {
  const int head = head_of(c), end = head + count;
  c -= head;
#pragma unroll 4
  for (int i = local_x() * 2; i < end; i += THREADS * 2) {
    T acc[2];
    unpack(*(const LOCAL_POINTER VECTOR*)(sums + i), acc);
    if (i >= head && i + 1 < end)
      finish_vector(c + i, acc, alpha, beta, flags);
    else
      finish(c + max(i, head), i < head ? acc[1] : acc[0], alpha, beta, flags);
  }
}

// If lines have an odd number of elements, 16 lanes that read 4 rows or columns at once (4 steps of
// k of each) use different banks if the rows are 4 apart. So row `i` of a block of 16 is:
DEVICE int spread_row(int i) { return i % 4 * 4 + i % 8 / 4 + i / 8 * 2; }
// Column `i` of block `j`. Two blocks share 16 columns; a last one alone has 8.
DEVICE int spread_col(int i, const int j) {
  return (j ^ 1) < BLOCKS ? j / 2 * 16 + i % 4 * 4 + i / 4 + j % 2 * 2 : j * 8 + i % 4 * 2 + i / 4;
}
