// The values that another work-item of the warp holds.
#pragma once
#if HAVE_WARPS
DEVICE uint shuffle_from(uint v, int lane) {
  uint r;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(v), "r"(lane));
  return r;
}
#else
DEVICE uint shuffle_from(uint v, int lane) { return v; }  // compiled but not reached
#endif
