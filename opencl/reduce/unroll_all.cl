// Idea: the group's size is known to the compiler, which writes out every step of the tree.
// It beats `unroll_last_warp` because there is no loop, and no comparison with a size that was loaded.
// Requires: sum of one evenly spaced sequence. THREADS, the work-items of a group: a power of two, 64
// or more; one program for each.
#include "group_sum.h"
#include "last_warp.h"

DEVICE ACC group_sum(LOCAL_POINTER ACC* values, ACC mine) {
  const int me = local_x();
  values[me] = mine;
#pragma unroll
  for (int s = THREADS / 2; s > 32; s /= 2) {
    sync();
    if (me < s) values[me] += values[me + s];
  }
  return last_warp_sum(values);
}

DEVICE ACC share_of(const Sequence* s) {
  const long i = (long)group_x() * (2 * THREADS) + local_x();
  return element(s, i) + element(s, i + THREADS);
}

#include "group_kernel.h"
