// Idea: the naive tree: neighbours add in pairs, then pairs of pairs, one element a work-item.
// It is the first rung: `me % (2 * s)` splits every warp, and most of it idles from the first step.
// Requires: sum of one evenly spaced sequence; groups of a power of two.
//
//   s = 1:  0 1 2 3 4 5 6 7      s = 2:  0   2   4   6      s = 4:  0       4
//           |/  |/  |/  |/               | /     | /                | /
#include "sum.h"

static ACC share_of(const Sequence* s) {
  const int me = get_local_id(0), size = get_local_size(0), group = get_group_id(0);
  return element(s, (long)group * size + me);
}

static ACC group_sum(__local ACC* values, ACC mine) {
  const int me = get_local_id(0), size = get_local_size(0);
  values[me] = mine;
  for (int s = 1; s < size; s *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me % (2 * s) == 0) values[me] += values[me + s];
  }
  return values[me];
}
