// Idea: the last six steps belong to one warp: unrolled, ordered by sync_warp(), not by the group's sync().
// Why it beats first_add: six barriers of the whole group and their loop are gone, and all warps but
// the first are done. (Where sync_warp() is sync(), on OpenCL but NVIDIA's, the barriers stay.)
// Requires: sum of one evenly spaced sequence; groups of a power of two, 64 or more.
#include "group_sum.h"
#include "last_warp.h"

DEVICE ACC group_sum(LOCAL_POINTER ACC* values, ACC mine) {
  const int me = local_x();
  values[me] = mine;
  for (int s = size_x() / 2; s > 32; s /= 2) {
    sync();
    if (me < s) values[me] += values[me + s];
  }
  return last_warp_sum(values);
}

DEVICE ACC share_of(const Sequence* s) {
  const long i = (long)group_x() * (2 * size_x()) + local_x();
  return element(s, i) + element(s, i + size_x());
}

#include "group_kernel.h"
