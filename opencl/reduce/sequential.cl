// Idea: the tree folds the upper half of the group onto the lower half, one element a work-item.
// It beats `interleaved_strided` because neighbours read neighbours, so that no two hit the same
// bank, and whole warps finish together. Requires: sum of one evenly spaced sequence; groups of a
// power of two.
//
//   s = 4:  0 1 2 3 4 5 6 7      s = 2:  0 1 2 3      s = 1:  0 1
//           |<------|                    |<--|                |<|
#include "sum.h"
#include "tree.h"

static ACC share_of(const Sequence* s) {
  const int me = get_local_id(0), size = get_local_size(0), group = get_group_id(0);
  return element(s, (long)group * size + me);
}

static ACC group_sum(__local ACC* values, ACC mine) {
  fold_halves(values, mine, 0);
  return values[get_local_id(0)];
}
