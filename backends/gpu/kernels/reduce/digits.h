// Sums in DIGITS digits of DIGIT_BITS bits, words of local memory DIGIT_STEP apart, so that their
// atomics return nothing and carries come later.
#pragma once
#define DIGIT_MASK ((1u << DIGIT_BITS) - 1u)

// Adds magnitude * 2^position, negated where sign is all ones, to `count` digits.
DEVICE void digits_add(LOCAL_POINTER uint* digits, ulong magnitude, int position, uint sign,
                       const int count) {
  const int digit = (int)((uint)position / DIGIT_BITS), shift = position - digit * DIGIT_BITS;
  LOCAL_POINTER uint* to = digits + digit * DIGIT_STEP;
  const ulong bottom = magnitude << shift;
  atomic_add(to, (((uint)bottom & DIGIT_MASK) ^ sign) - sign);
#pragma unroll
  for (int k = 1; k < count; ++k) {
    const int below = k * DIGIT_BITS;  // a shift is less than 64
    const ulong rest = below < 64 ? magnitude >> (below - shift)
                                  : magnitude >> (below - DIGIT_BITS) >> (DIGIT_BITS - shift);
    atomic_add(to + k * DIGIT_STEP, (((uint)rest & DIGIT_MASK) ^ sign) - sign);
  }
}

// Moves on what exceeds the digits of a copy.
DEVICE void digits_carry(LOCAL_POINTER uint* digits) {
  int carry = 0;
  for (int d = 0; d < DIGITS - 1; ++d) {
    const int digit = (int)digits[d * DIGIT_STEP] + carry;
    digits[d * DIGIT_STEP] = (uint)digit & DIGIT_MASK;
    carry = digit >> DIGIT_BITS;
  }
  digits[(DIGITS - 1) * DIGIT_STEP] += (uint)carry;
}
