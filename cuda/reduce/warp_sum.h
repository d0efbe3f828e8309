// A warp's sum in its registers: each work-item takes the value of the one `delta` lanes up, and adds. It
// counts in lane 0 alone.
#pragma once

DEVICE int lane() { return local_x() % 32; }
DEVICE int lanes() { return 32; }
DEVICE int warp() { return local_x() / 32; }
DEVICE int warps() { return size_x() / 32; }

DEVICE ACC value_above(ACC x, int delta) { return __shfl_down_sync(~0u, x, delta); }

DEVICE ACC warp_sum(ACC x) {
#pragma unroll
  for (int delta = 16; delta > 0; delta /= 2) x += value_above(x, delta);
  return x;
}
