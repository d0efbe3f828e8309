// Idea: algorithm cascading (Brent): only as many blocks as the device holds at once; a thread
// first adds many elements by itself, a grid apart, and the tree runs once a block. It beats
// `unroll_all` because the tree's idle threads and barriers are paid once for a long chunk of
// memory, so the tree need not be compiled for each size of block: it is unroll_last_warp's.
// Requires: sum of one evenly spaced sequence; blocks of a power of two, 64 or more.
//
//   block:  0 0 1 1 2 2 | 0 0 1 1 2 2 | 0 0 1 …      (two elements a thread and turn)
#include "sum.h"
#include "tree.h"

static __device__ ACC share_of(const Sequence* s) {
  const int me = threadIdx.x, size = blockDim.x, group = blockIdx.x, groups = gridDim.x;
  const long step = (long)groups * (2 * size);
  ACC mine = (ACC)0;
  for (long i = (long)group * (2 * size) + me; i < s->count; i += step)
    mine += element(s, i) + element(s, i + size);
  return mine;
}

static __device__ ACC group_sum(ACC* values, ACC mine) {
  fold_halves(values, mine, 32);
  return last_warp_sum(values);
}
