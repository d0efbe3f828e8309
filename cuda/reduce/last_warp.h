// The end of a tree: the last 64 values, by the first warp alone. Warps haven't been in step by themselves
// since Volta, so each step waits for the one before, and only those that add read: one wait a step.
#pragma once

DEVICE ACC last_warp_sum(LOCAL_POINTER ACC* values) {
  const int me = local_x();
  sync();
  if (in_first_warp()) {
#pragma unroll
    for (int s = 32; s > 0; s /= 2) {
      if (me < s) values[me] += values[me + s];
      sync_warp();
    }
  }
  return values[me];
}
