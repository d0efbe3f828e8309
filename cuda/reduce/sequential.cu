// Idea: the tree folds the upper half of the group onto the lower half, one element a work-item.
// Why it beats interleaved_strided: neighbours read neighbours, so no two hit the same bank, and whole
// warps finish together.
// Requires: sum of one evenly spaced sequence; groups of a power of two.
//
//   s = 4:  0 1 2 3 4 5 6 7      s = 2:  0 1 2 3      s = 1:  0 1
//           |<------|                    |<--|                |<|
#include "group_sum.h"

DEVICE ACC group_sum(LOCAL_POINTER ACC* values, ACC mine) {
  const int me = local_x();
  values[me] = mine;
  for (int s = size_x() / 2; s > 0; s /= 2) {
    sync();
    if (me < s) values[me] += values[me + s];
  }
  return values[me];
}

DEVICE ACC share_of(const Sequence* s) {
  return element(s, (long)group_x() * size_x() + local_x());
}

#include "group_kernel.h"
