// Doubles and floats of a warp's other work-items.
#pragma once
#if HAVE_WARPS
DEVICE double shuffle_xor_f64(double x, int mask) {
  const uint low = shuffle_xor((uint)as_ulong(x), mask);
  const uint high = shuffle_xor((uint)(as_ulong(x) >> 32), mask);
  return as_double((ulong)high << 32 | low);
}
DEVICE float shuffle_xor_f32(float x, int mask) { return as_float(shuffle_xor(as_uint(x), mask)); }
#endif
