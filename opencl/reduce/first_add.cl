// Idea: a work-item adds two elements while it loads them; the tree is sequential's.
// Why it beats sequential: half of its work-items only ever loaded; here each adds, and the same group
// has twice the bytes in flight.
// Requires: sum of one evenly spaced sequence; groups of a power of two.
//
//   group 0: [ me ........ | me + size .... ]  group 1: [ me ........ | me + size .... ]
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
  const long i = (long)group_x() * (2 * size_x()) + local_x();
  return element(s, i) + element(s, i + size_x());
}

#include "group_kernel.h"
