// Idea: the block's size is known to the compiler, which writes out every step of the tree.
// It beats `unroll_last_warp` because there is no loop, and no comparison with a size that was
// loaded. Requires: sum of one evenly spaced sequence. THREADS, the threads of a block: a power of
// two, 64 or more; one program for each.
#include "sum.h"
#include "tree.h"

static __device__ ACC share_of(const Sequence* s) {
  const int me = threadIdx.x, group = blockIdx.x;
  const long i = (long)group * (2 * THREADS) + me;
  return element(s, i) + element(s, i + THREADS);
}

static __device__ ACC group_sum(ACC* values, ACC mine) {
  const int me = threadIdx.x;
  values[me] = mine;
#pragma unroll
  for (int s = THREADS / 2; s > 32; s /= 2) {
    __syncthreads();
    if (me < s) values[me] += values[me + s];
  }
  return last_warp_sum(values);
}
