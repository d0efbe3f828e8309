// Idea: the last six steps belong to one warp: unrolled, ordered by sync_warp(), not by the group's sync().
// It beats `first_add` because the whole group waits once for those six steps, not six times, their
// loop is gone, and all warps but the first are done. (Where sync_warp() is sync(), on OpenCL but
// NVIDIA's, the barriers stay.)
// Requires: sum of one evenly spaced sequence; groups of a power of two, 64 or more.
#include "group_sum.h"
#include "last_warp.h"
#include "tree.h"

DEVICE ACC group_sum(LOCAL_POINTER ACC* values, ACC mine) {
  fold_halves(values, mine, 32);
  return last_warp_sum(values);
}

DEVICE ACC share_of(const Sequence* s) {
  const long i = (long)group_x() * (2 * size_x()) + local_x();
  return element(s, i) + element(s, i + size_x());
}

#include "group_kernel.h"
