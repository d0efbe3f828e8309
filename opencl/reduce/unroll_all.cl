// Idea: the group's size is known to the compiler, which writes out every step of the tree.
// It beats `unroll_last_warp` because there is no loop, and no comparison with a size that was
// loaded. Requires: sum of one evenly spaced sequence. THREADS, the work-items of a group: a power
// of two, 64 or more; one program for each.
#include "sum.h"
#include "tree.h"

static ACC share_of(const Sequence* s) {
  const int me = get_local_id(0), group = get_group_id(0);
  const long i = (long)group * (2 * THREADS) + me;
  return element(s, i) + element(s, i + THREADS);
}

static ACC group_sum(__local ACC* values, ACC mine) {
  const int me = get_local_id(0);
  values[me] = mine;
#pragma unroll
  for (int s = THREADS / 2; s > 32; s /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < s) values[me] += values[me + s];
  }
  return last_warp_sum(values);
}
