// Idea: algorithm cascading (Brent): only as many groups as the device holds at once; a work-item
// first adds many elements by itself, a grid apart, and the tree runs once a group. It beats
// `unroll_all` because the tree's idle work-items and barriers are paid once for a long chunk of
// memory, so the tree need not be compiled for each size of group: it is unroll_last_warp's.
// Requires: sum of one evenly spaced sequence; groups of a power of two, 64 or more.
//
//   group:  0 0 1 1 2 2 | 0 0 1 1 2 2 | 0 0 1 …      (two elements a work-item and turn)
#include "sum.h"
#include "tree.h"

static ACC share_of(const Sequence* s) {
  const int me = get_local_id(0), size = get_local_size(0), group = get_group_id(0),
            groups = get_num_groups(0);
  const long step = (long)groups * (2 * size);
  ACC mine = (ACC)0;
  for (long i = (long)group * (2 * size) + me; i < s->count; i += step)
    mine += element(s, i) + element(s, i + size);
  return mine;
}

static ACC group_sum(__local ACC* values, ACC mine) {
  fold_halves(values, mine, 32);
  return last_warp_sum(values);
}
