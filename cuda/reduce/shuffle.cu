// Idea: threads of a warp read each other's registers: warps add without shared memory, and then
// the first warp adds what the warps have. It beats `cascade` because a block waits once, not once
// a step, and shared memory holds a value a warp. Requires: sum of one evenly spaced sequence;
// warps whose registers can be shuffled.
//
//   warp 0: 0 … 31 -> values[0] \
//   warp 1: 0 … 31 -> values[1] -> barrier -> warp 0: values[0 … warps - 1] -> sum
#include "sum.h"
#include "warps.h"

static __device__ ACC share_of(const Sequence* s) {
  const int me = threadIdx.x, size = blockDim.x, group = blockIdx.x, groups = gridDim.x;
  const long step = (long)groups * (2 * size);
  ACC mine = (ACC)0;
  for (long i = (long)group * (2 * size) + me; i < s->count; i += step)
    mine += element(s, i) + element(s, i + size);
  return mine;
}
