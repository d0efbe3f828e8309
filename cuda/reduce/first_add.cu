// Idea: a work-item adds two elements while it loads them; the tree is sequential's.
// It beats `sequential` because half of the work-items only ever loaded there; here each adds, and the
// same group has twice the bytes in flight.
// Requires: sum of one evenly spaced sequence; groups of a power of two.
//
//   group 0: [ me ........ | me + size .... ]  group 1: [ me ........ | me + size .... ]
#include "group_sum.h"
#include "tree.h"

DEVICE ACC group_sum(LOCAL_POINTER ACC* values, ACC mine) {
  fold_halves(values, mine, 0);
  return values[local_x()];
}

DEVICE ACC share_of(const Sequence* s) {
  const long i = (long)group_x() * (2 * size_x()) + local_x();
  return element(s, i) + element(s, i + size_x());
}

#include "group_kernel.h"
