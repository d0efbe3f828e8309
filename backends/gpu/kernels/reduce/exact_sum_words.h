// The fallback of every exact sum: superaccumulators in local memory, COPIES side by side, so that
// neighbouring work-items hit different banks and seldom each other.
#pragma once
#include "exact_terms.h"

#define COPIES (WORDS > 128 ? 16 : 32)  // within the 32 KB of local memory that OpenCL promises

DEVICE void words_clear(int me, LOCAL_POINTER ulong* arena) {
  sync();
  for (int i = me; i < WORDS * COPIES; i += THREADS) arena[i] = 0UL;
  sync();
}

// Adds a double that is a multiple of the format's last bit.
DEVICE void words_add_double(double x, LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
  int position;
  const ulong mantissa = mantissa_f64(as_ulong(x), &position);
  accumulator_add(low, high, COPIES, mantissa, position - 1074 - BASE, as_ulong(x) >> 63);
}

DEVICE void words_add_expansion(const Expansion* sum, LOCAL_POINTER uint* low,
                                LOCAL_POINTER uint* high) {
  words_add_double(sum->hi, low, high);
  words_add_double(sum->mid, low, high);
  words_add_double(sum->lo, low, high);
}

// Adds a term, x or x times y; returns its flags.
DEVICE uint words_add_term(T x, T y, LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
#if PRODUCTS
  const Product p = product_of(x, y);
  accumulator_add(low, high, COPIES, p.low, p.position, p.negative);
  if (T_DOUBLE) accumulator_add(low, high, COPIES, p.high, p.position + 64, p.negative);
  return p.flags;
#else
  const uint special = special_flags(x);
  if (special) return special | FLAG_NOT_MINUS_ZERO;
  words_add_double(x, low, high);
  return as_ulong((double)x) == 0x8000000000000000UL ? 0u : FLAG_NOT_MINUS_ZERO;
#endif
}

// Leaves in its first copy word `w` of the accumulator of so many copies at low, high.
DEVICE void word_total(LOCAL_POINTER uint* low, LOCAL_POINTER uint* high, int w, int copies) {
  ulong total = 0UL;
  for (int c = 0; c < copies; ++c) {
    const int at = w * COPIES + (c + w) % copies;  // starting elsewhere: no bank conflicts
    total += (ulong)high[at] << 32 | low[at];
  }
  low[w * COPIES] = (uint)total;
  high[w * COPIES] = (uint)(total >> 32);
}

// The same for all words of an accumulator that a group shares.
DEVICE void words_total(int me, LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
  sync();
  if (me < WORDS) word_total(low, high, me, COPIES);
  sync();
}

// Word `w` of the accumulator whose first copy, its total, is at low, high.
DEVICE long word_at(LOCAL_POINTER const uint* low, LOCAL_POINTER const uint* high, int w) {
  return (long)((ulong)high[w * COPIES] << 32 | low[w * COPIES]);
}

// The same after one step of carrying, which keeps the sum of many groups' words within 64 bits.
DEVICE ulong carried_word(LOCAL_POINTER const uint* low, LOCAL_POINTER const uint* high, int w) {
  const long carry = w > 0 ? (long)(int)high[(w - 1) * COPIES] : 0;
  const ulong rest = w < WORDS - 1 ? 0UL : (ulong)high[w * COPIES] << 32;
  return (rest | low[w * COPIES]) + (ulong)carry;
}

// The rounded sum of an accumulator whose totals stand in its first copy.
DEVICE ulong total_bits(LOCAL_POINTER const uint* low, LOCAL_POINTER const uint* high, uint flags,
                        bool f64) {
  bool negative = false;
  Digits d;
  for (int pass = 0; pass < 2; ++pass) {
    d = digits_none();
    for (int w = 0; w < WORDS; ++w) {
      const long word = word_at(low, high, w);
      digits_read(&d, negative ? -word : word);
    }
    if (!digits_end(&d)) break;
    negative = true;
  }
  return result_bits(digits_round(&d, BASE, f64), negative, flags, f64);
}
