// Numbers of a warp's other work-items.
#pragma once
#if HAVE_WARPS
DEVICE ulong shuffle_xor_u64(ulong x, int mask) {
  const uint low = shuffle_xor((uint)x, mask), high = shuffle_xor((uint)(x >> 32), mask);
  return (ulong)high << 32 | low;
}
DEVICE double shuffle_xor_f64(double x, int mask) {
  return as_double(shuffle_xor_u64(as_ulong(x), mask));
}
DEVICE float shuffle_xor_f32(float x, int mask) { return as_float(shuffle_xor(as_uint(x), mask)); }
#endif
