// Idea: a thread adds two elements while it loads them; the tree is sequential's.
// It beats `sequential` because half of the threads only ever loaded there; here each adds, and the
// same block has twice the bytes in flight.
// Requires: sum of one evenly spaced sequence; blocks of a power of two.
//
//   block 0: [ me ........ | me + size .... ]  block 1: [ me ........ | me + size .... ]
#include "sum.h"
#include "tree.h"

static __device__ ACC share_of(const Sequence* s) {
  const int me = threadIdx.x, size = blockDim.x, group = blockIdx.x;
  const long i = (long)group * (2 * size) + me;
  return element(s, i) + element(s, i + size);
}

static __device__ ACC group_sum(ACC* values, ACC mine) {
  fold_halves(values, mine, 0);
  return values[threadIdx.x];
}
