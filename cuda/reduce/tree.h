// The tree that a block folds from `sequential` on: the upper half of the values onto the lower
// half, until 2 * `last` of them are left (all of the sum for 0). Every step waits for the whole
// block.
static __device__ void fold_halves(ACC* values, ACC mine, int last) {
  const int me = threadIdx.x, size = blockDim.x;
  values[me] = mine;
  for (int s = size / 2; s > last; s /= 2) {
    __syncthreads();
    if (me < s) values[me] += values[me + s];
  }
}

// The end of a tree: the last 64 values, by the first warp alone. Warps haven't been in step by
// themselves since Volta, so each step waits for the one before, and only those that add read: one
// wait a step.
static __device__ ACC last_warp_sum(ACC* values) {
  const int me = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 32) {
#pragma unroll
    for (int s = 32; s > 0; s /= 2) {
      if (me < s) values[me] += values[me + s];
      __syncwarp();
    }
  }
  return values[me];
}
