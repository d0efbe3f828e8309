// Idea: the naive tree: neighbours add in pairs, then pairs of pairs, one element a work-item.
// It is the first rung: `me % (2 * s)` splits every warp, and most of it idles from the first step.
// Requires: sum of one evenly spaced sequence; groups of a power of two.
//
//   s = 1:  0 1 2 3 4 5 6 7      s = 2:  0   2   4   6      s = 4:  0       4
//           |/  |/  |/  |/               | /     | /                | /
#include "group_sum.h"

DEVICE ACC group_sum(LOCAL_POINTER ACC* values, ACC mine) {
  const int me = local_x(), size = size_x();
  values[me] = mine;
  for (int s = 1; s < size; s *= 2) {
    sync();
    if (me % (2 * s) == 0) values[me] += values[me + s];
  }
  return values[me];
}

DEVICE ACC share_of(const Sequence* s) {
  return element(s, (long)group_x() * size_x() + local_x());
}

#include "group_kernel.h"
