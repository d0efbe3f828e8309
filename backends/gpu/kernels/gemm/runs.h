// Matrices as runs of memory, without gaps: in local memory they lie as they do there, vectors
// where vectors are. The first and the last elements may be none.
#pragma once
#include "copy.h"

// Where the run that begins at `x` begins in local memory: vectors begin where those of memory do.
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

// Where lines have an odd number of elements, rows or columns that 16 lanes read at once (4 of
// them, 4 steps of k each) fall on different banks if they are 4 apart. Row `i` of a block of 16:
DEVICE int spread_row(int i) { return i % 4 * 4 + i % 8 / 4 + i / 8 * 2; }
// Column `i` of block `j`: of 16 with its neighbour, of 8 if there is none.
DEVICE int spread_col(int i, const int j) {
  return (j ^ 1) < BLOCKS ? j / 2 * 16 + i % 4 * 4 + i / 4 + j % 2 * 2 : j * 8 + i % 4 * 2 + i / 4;
}
