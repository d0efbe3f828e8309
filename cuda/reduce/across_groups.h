// The order of memory that other groups see, and the maximum and the sum of a warp: one instruction
// each here.
#pragma once
// Writes of this work-item, or of its group before a sync_memory(), come before its later ones;
// reads likewise.
// (__threadfence is sequentially consistent, which costs more.)
DEVICE void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

// Fetches into the L2 the line at p, which will be read soon.
DEVICE void fetch_soon(GLOBAL const void* p) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
}

DEVICE uint warp_max(uint v) { return __reduce_max_sync(~0u, v); }
DEVICE int warp_sum(int v) { return __reduce_add_sync(~0u, v); }

// x, whose origin the compiler can't see: what it follows from is computed here, and what
// follows from it there and not before the loops around, which need the registers.
DEVICE int opaque(int x) {
  int y;
  asm volatile("mov.b32 %0, %1;" : "=r"(y) : "r"(x));
  return y;
}
DEVICE long opaque_long(long x) {
  long y;
  asm volatile("mov.b64 %0, %1;" : "=l"(y) : "l"(x));
  return y;
}
