// The state of an exact sum, as <trine/ops.h> has it: a two's complement number of 64-bit words
// behind one word of flags, so that a caller can add it to other states.
#pragma once

#define STATE_WORDS 69
#define STATE_LOWEST (-2176)
#define STATE_ANY 16u
#define STATE_FLAGS (FLAGS_SPECIAL | FLAG_NOT_MINUS_ZERO)

// Begins the state of a sum; false: it is whole, because the sum isn't finite.
DEVICE bool state_begin(GLOBAL ulong* state, uint flags) {
  const uint infinities = FLAG_PLUS_INFINITY | FLAG_MINUS_INFINITY;
  if ((flags & FLAG_NAN) || (flags & infinities) == infinities)
    flags = FLAG_NAN | FLAG_NOT_MINUS_ZERO;
  state[0] = (flags & STATE_FLAGS) | STATE_ANY;
  for (int w = 1; w < STATE_WORDS; ++w) state[w] = 0UL;
  return (flags & (FLAG_NAN | infinities)) == 0u;
}

// Adds value * 2^exponent, up to where nothing changes any more.
DEVICE void state_add(GLOBAL ulong* state, long value, int exponent) {
  const int position = exponent - STATE_LOWEST, shift = position & 63;
  const ulong sign = value < 0 ? ~0UL : 0UL;
  ulong carry = 0UL;
  int w = 1 + (position >> 6);
  for (int k = 0; w < STATE_WORDS && (k < 2 || carry != (sign & 1UL)); ++k, ++w) {
    const ulong add = k == 0   ? (ulong)value << shift
                      : k == 1 ? (shift ? (ulong)(value >> (64 - shift)) : sign)
                               : sign;
    const ulong partial = state[w] + add, sum = partial + carry;
    carry = (partial < add || sum < carry) ? 1UL : 0UL;
    state[w] = sum;
  }
}
