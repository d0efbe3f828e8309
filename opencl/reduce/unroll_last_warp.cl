// Idea: the last six steps belong to one warp: unrolled, ordered within the warp, not by the
// group's barrier. It beats `first_add` because the whole group waits once for those six steps, not
// six times, their loop is gone, and all warps but the first are done. (Where there are no warps,
// on OpenCL but NVIDIA's, the barriers stay.) Requires: sum of one evenly spaced sequence; groups
// of a power of two, 64 or more.
#include "sum.h"
#include "tree.h"

static ACC share_of(const Sequence* s) {
  const int me = get_local_id(0), size = get_local_size(0), group = get_group_id(0);
  const long i = (long)group * (2 * size) + me;
  return element(s, i) + element(s, i + size);
}

static ACC group_sum(__local ACC* values, ACC mine) {
  fold_halves(values, mine, 32);
  return last_warp_sum(values);
}
