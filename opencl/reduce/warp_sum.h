// A warp's sum in its registers: each work-item takes the value of the one `delta` lanes up, and adds. It
// counts in lane 0 alone. A sub-group is a warp of the size that the device likes.
#pragma once

#if HAVE_WARPS
DEVICE int lane() { return local_x() % 32; }
DEVICE int lanes() { return 32; }
DEVICE int warp() { return local_x() / 32; }
DEVICE int warps() { return size_x() / 32; }

// shfl.sync moves 32 bits; wider values go as two halves.
DEVICE ACC value_above(ACC x, int delta) {
#if T_float
  return as_float(shuffle_down(as_uint(x), delta));
#else
  const uint2 halves = as_uint2(x);
  const uint2 above = (uint2)(shuffle_down(halves.x, delta), shuffle_down(halves.y, delta));
#if T_double
  return as_double(above);
#elif T_uint
  return as_ulong(above);
#else
  return as_long(above);
#endif
#endif
}

DEVICE ACC warp_sum(ACC x) {
#pragma unroll
  for (int delta = 16; delta > 0; delta /= 2) x += value_above(x, delta);
  return x;
}
#else
DEVICE int lane() { return get_sub_group_local_id(); }
DEVICE int lanes() { return get_max_sub_group_size(); }
DEVICE int warp() { return get_sub_group_id(); }
DEVICE int warps() { return get_num_sub_groups(); }
DEVICE ACC warp_sum(ACC x) { return sub_group_reduce_add(x); }
#endif
