// Idea: the pairs of interleaved_divergent, but neighbouring work-items do the adding.
// It beats `interleaved_divergent` because the work-items that add fill whole warps, and there is no
// modulo; but their values lie 2 s apart, so that up to 32 of a warp wait for the same bank.
// Requires: sum of one evenly spaced sequence; groups of a power of two.
//
//   s = 1:  0 1 2 3 4 5 6 7      s = 2:  0 . 2 . 4 . 6 .      s = 4:  0 . . . 4 . . .
//   by:     0   1   2   3                0       1                    0
#include "group_sum.h"

DEVICE ACC group_sum(LOCAL_POINTER ACC* values, ACC mine) {
  const int me = local_x(), size = size_x();
  values[me] = mine;
  for (int s = 1; s < size; s *= 2) {
    sync();
    const int left = 2 * s * me;
    if (left < size) values[left] += values[left + s];
  }
  return values[me];
}

DEVICE ACC share_of(const Sequence* s) {
  return element(s, (long)group_x() * size_x() + local_x());
}

#include "group_kernel.h"
