// The order of memory that other groups see, and a warp's maximum and sum.
#pragma once
// Writes of this work-item, or of its group before a sync_memory(), come before its later ones;
// reads likewise.
// (mem_fence orders nothing between groups on NVIDIA; elsewhere a launch ends between.)
DEVICE void fence() {
#if HAVE_PTX
  __asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}

// Fetches into the L2 the line at p, which will be read soon.
DEVICE void fetch_soon(GLOBAL const void* p) {
#if HAVE_PTX
  __asm__ volatile("prefetch.global.L2 [%0];" : : "l"(p));
#endif
}

// x, whose origin the compiler can't see, so that it computes with x there and not before the loops
// around, which need the registers (else loads come late or spill).
DEVICE int opaque(int x) {
#if HAVE_PTX
  int y;
  __asm__ volatile("mov.b32 %0, %1;" : "=r"(y) : "r"(x));
  return y;
#else
  return x;
#endif
}
DEVICE long opaque_long(long x) { return x; }

#if HAVE_WARPS
DEVICE uint warp_max(uint v) {
  for (int mask = 16; mask > 0; mask /= 2) v = max(v, shuffle_xor(v, mask));
  return v;
}

DEVICE int warp_sum(int v) {
  for (int mask = 16; mask > 0; mask /= 2) v += (int)shuffle_xor((uint)v, mask);
  return v;
}
#endif
