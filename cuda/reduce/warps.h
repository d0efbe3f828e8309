// A block's sum by its warps: each adds what its registers hold, then the first adds what the warps
// have. A warp's sum counts in lane 0 alone: each lane adds the value of the one `delta` lanes up.
static __device__ int lane() { return (int)threadIdx.x % 32; }
static __device__ int lanes() { return 32; }
static __device__ int warp() { return (int)threadIdx.x / 32; }
static __device__ int warps() { return (int)blockDim.x / 32; }

static __device__ ACC warp_sum(ACC x) {
#pragma unroll
  for (int delta = 16; delta > 0; delta /= 2) x += __shfl_down_sync(~0u, x, delta);
  return x;
}

static __device__ ACC group_sum(ACC* values, ACC mine) {
  ACC sum = warp_sum(mine);
  if (lane() == 0) values[warp()] = sum;
  __syncthreads();
  if (warp() > 0) return sum;
  sum = (ACC)0;
  for (int w = lane(); w < warps(); w += lanes()) sum += values[w];
  return warp_sum(sum);
}
