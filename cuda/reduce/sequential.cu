// Idea: the tree folds the upper half of the block onto the lower half, one element a thread.
// It beats `interleaved_strided` because neighbours read neighbours, so that no two hit the same
// bank, and whole warps finish together. Requires: sum of one evenly spaced sequence; blocks of a
// power of two.
//
//   s = 4:  0 1 2 3 4 5 6 7      s = 2:  0 1 2 3      s = 1:  0 1
//           |<------|                    |<--|                |<|
#include "sum.h"
#include "tree.h"

static __device__ ACC share_of(const Sequence* s) {
  const int me = threadIdx.x, size = blockDim.x, group = blockIdx.x;
  return element(s, (long)group * size + me);
}

static __device__ ACC group_sum(ACC* values, ACC mine) {
  fold_halves(values, mine, 0);
  return values[threadIdx.x];
}
