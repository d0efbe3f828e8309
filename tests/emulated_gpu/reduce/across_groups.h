// The fence for memory that other groups see, and a warp's maximum and sum.
#pragma once
DEVICE void fence() {}
DEVICE void fetch_soon(const void* p) {}
DEVICE uint warp_max(uint v) {
  for (int mask = 1; mask < 32; mask *= 2) {
    const uint other = shuffle_xor(v, mask);
    v = v > other ? v : other;
  }
  return v;
}
DEVICE int warp_sum(int v) {
  for (int mask = 1; mask < 32; mask *= 2) v += (int)shuffle_xor((uint)v, mask);
  return v;
}
DEVICE int opaque(int x) { return x; }
DEVICE long opaque_long(long x) { return x; }
