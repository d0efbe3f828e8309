// Idea: the tree folds the upper half of the group onto the lower half, one element a work-item.
// It beats `interleaved_strided` because neighbours read neighbours, so that no two hit the same bank,
// and whole warps finish together.
// Requires: sum of one evenly spaced sequence; groups of a power of two.
//
//   s = 4:  0 1 2 3 4 5 6 7      s = 2:  0 1 2 3      s = 1:  0 1
//           |<------|                    |<--|                |<|
#include "group_sum.h"
#include "tree.h"

DEVICE ACC group_sum(LOCAL_POINTER ACC* values, ACC mine) {
  fold_halves(values, mine, 0);
  return values[local_x()];
}

DEVICE ACC share_of(const Sequence* s) {
  return element(s, (long)group_x() * size_x() + local_x());
}

#include "group_kernel.h"
