// Turns a square block of elements in registers: SIDE vectors `Words` of SIDE elements, both the
// includer's.
//
//   steps of d = SIDE / 2 ... 1; step d swaps the off-diagonal d x d blocks of every 2d x 2d block
#pragma once

// Lane l of a step: whole masks, since PoCL 3.1 looks through vectors that are built of elements,
// and makes 1,000 instructions of the 64 permutations of a block of 16.
#define LANE(l, d, more) (((l) & (d) ? (l) - (d) + SIDE : (l)) + more)
#define LANES_4(l, d, more) \
  LANE(l, d, more), LANE(l + 1, d, more), LANE(l + 2, d, more), LANE(l + 3, d, more)
#if SIDE == 4
#define PICKED(d, more) LANES_4(0, d, more)
#elif SIDE == 8
#define PICKED(d, more) LANES_4(0, d, more), LANES_4(4, d, more)
#else
#define PICKED(d, more) \
  LANES_4(0, d, more), LANES_4(4, d, more), LANES_4(8, d, more), LANES_4(12, d, more)
#endif
#define STEP(d)                                                              \
  _Pragma("unroll") for (int i = 0; i < SIDE; ++i) if (!(i & d)) {           \
    const Words low = __builtin_shufflevector(r[i], r[i + d], PICKED(d, 0)); \
    r[i + d] = __builtin_shufflevector(r[i], r[i + d], PICKED(d, d));        \
    r[i] = low;                                                              \
  }

INLINED void turn(Words r[SIDE]) {
#if SIDE >= 16
  STEP(8)
#endif
#if SIDE >= 8
  STEP(4)
#endif
  STEP(2)
  STEP(1)
}
