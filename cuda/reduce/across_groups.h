// What memory that other groups see needs, and a warp's maximum and sum: one instruction each here.
#pragma once
// What this work-item, or its group before a sync_memory(), wrote before comes before what it
// writes after; reads likewise.
// (__threadfence is sequentially consistent, which costs more.)
DEVICE void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

// What is at p will be read soon: from the L2.
DEVICE void fetch_soon(GLOBAL const void* p) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
}

DEVICE uint warp_max(uint v) { return __reduce_max_sync(~0u, v); }
DEVICE int warp_sum(int v) { return __reduce_add_sync(~0u, v); }

// x, whose origin the compiler can't see: what follows from it is computed there and not before the
// loops around, which need the registers (without, loads come late or spill; sums of `floats` fare
// better without).
DEVICE int anew(int x, const bool floats) {
  if (floats) return x;
  int y;
  asm volatile("mov.b32 %0, %1;" : "=r"(y) : "r"(x));
  return y;
}
