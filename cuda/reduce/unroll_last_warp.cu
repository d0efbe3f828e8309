// Idea: the last six steps belong to one warp: unrolled, ordered by __syncwarp(), not by
// __syncthreads(). It beats `first_add` because the whole block waits once for those six steps, not
// six times, their loop is gone, and all warps but the first are done. Requires: sum of one evenly
// spaced sequence; blocks of a power of two, 64 or more.
#include "sum.h"
#include "tree.h"

static __device__ ACC share_of(const Sequence* s) {
  const int me = threadIdx.x, size = blockDim.x, group = blockIdx.x;
  const long i = (long)group * (2 * size) + me;
  return element(s, i) + element(s, i + size);
}

static __device__ ACC group_sum(ACC* values, ACC mine) {
  fold_halves(values, mine, 32);
  return last_warp_sum(values);
}
