// Idea: the naive tree: neighbours add in pairs, then pairs of pairs, one element a thread.
// It is the first rung: `me % (2 * s)` splits every warp, and most of it idles from the first step.
// Requires: sum of one evenly spaced sequence; blocks of a power of two.
//
//   s = 1:  0 1 2 3 4 5 6 7      s = 2:  0   2   4   6      s = 4:  0       4
//           |/  |/  |/  |/               | /     | /                | /
#include "sum.h"

static __device__ ACC share_of(const Sequence* s) {
  const int me = threadIdx.x, size = blockDim.x, group = blockIdx.x;
  return element(s, (long)group * size + me);
}

static __device__ ACC group_sum(ACC* values, ACC mine) {
  const int me = threadIdx.x, size = blockDim.x;
  values[me] = mine;
  for (int s = 1; s < size; s *= 2) {
    __syncthreads();
    if (me % (2 * s) == 0) values[me] += values[me + s];
  }
  return values[me];
}
