// The instructions of three_tf32.cu: tensor cores that a warp group feeds from local memory.
// Included where DEPTH and TILE_N are known.
#pragma once
#include "pair_copies.h"

// The layout that wgmma reads: 8 lanes by 4 steps of k are 128 bytes, the next 4 steps follow, the
// next 8 lanes lie DEPTH steps on.
DEVICE ulong operand_at(uint address) {
  return (ulong)((address & 0x3ffff) >> 4) | (ulong)(128 >> 4) << 16 |
         (ulong)(8 * DEPTH * 4 >> 4) << 32;
}
#define STEP_ON 16 /* 8 steps of k, 256 bytes, of such a descriptor */

#define SUMS (TILE_N / 2) /* of a work-item */
#define NAMES(x) ONE_TO_89(x) x(90) x(91) x(92) x(93) x(94) x(95)
#define BOUND(i) , "+f"(acc[i])

// Begins, for a warp group, acc(64 x 192) = a(64 x 8) b(8 x 192), or += if `add`.
DEVICE void begin_multiply(float* acc, ulong a, ulong b, int add) {
  __asm__ volatile(
      "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %98, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n192k8.f32.tf32.tf32 {%0" NAMES(
          NAMED) "}, %96, %97, add, 1, 1;\n\t}"
      : "+f"(acc[0])NAMES(BOUND)
      : "l"(a), "l"(b), "r"(add));
}
// Nothing reads the sums before this.
DEVICE void finish_sums(float* acc) {
#pragma unroll
  for (int i = 0; i < SUMS; ++i) __asm__ volatile("" : "+f"(acc[i]) : : "memory");
}
