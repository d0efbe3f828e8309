// Idea: a work-item adds two elements while it loads them; the tree is sequential's.
// It beats `sequential` because half of the work-items only ever loaded there; here each adds, and
// the same group has twice the bytes in flight. Requires: sum of one evenly spaced sequence; groups
// of a power of two.
//
//   group 0: [ me ........ | me + size .... ]  group 1: [ me ........ | me + size .... ]
#include "sum.h"
#include "tree.h"

static ACC share_of(const Sequence* s) {
  const int me = get_local_id(0), size = get_local_size(0), group = get_group_id(0);
  const long i = (long)group * (2 * size) + me;
  return element(s, i) + element(s, i + size);
}

static ACC group_sum(__local ACC* values, ACC mine) {
  fold_halves(values, mine, 0);
  return values[get_local_id(0)];
}
