// The superaccumulator of one work-item: words in its own memory, no atomics. BASE, WORDS, PRODUCTS and T
// are the including file's.
#pragma once
#include "exact.h"

DEVICE void words_add(ulong* words, ulong mantissa, int position, bool negative) {
  if (mantissa == 0UL) return;
  if (position < 0) {
    mantissa >>= -position;
    position = 0;
  }
  const int w = position >> 5, shift = position & 31;
  const ulong sign = negative ? ~0UL : 0UL;  // (x ^ sign) - sign negates
  const ulong bottom = mantissa << shift, high = shift ? mantissa >> (64 - shift) : 0UL;
  words[w] += ((bottom & 0xffffffffUL) ^ sign) - sign;
  words[w + 1] += ((bottom >> 32) ^ sign) - sign;
  if (high) words[w + 2] += (high ^ sign) - sign;
}

DEVICE void words_add_double(ulong* words, double x) {
  int position;
  const ulong mantissa = mantissa_f64(as_ulong(x), &position);
  words_add(words, mantissa, position - 1074 - BASE, as_ulong(x) >> 63);
}

// Adds a term, x or x times y; returns what else is to be said of it.
DEVICE uint words_add_term(ulong* words, T x, T y, bool magnitude) {
#if PRODUCTS
  const Product p = product_of(x, y);
  words_add(words, p.low, p.position, p.negative);
  words_add(words, p.high, p.position + 64, p.negative);
  return p.saw;
#else
  int position;
#if T_float
  const uint bits = as_uint(magnitude ? fabs(x) : x);
  const bool negative = bits >> 31;
  const ulong mantissa = mantissa_f32(bits, &position);
  if (bits == 0x80000000u) return 0u;
#else
  const ulong bits = as_ulong(magnitude ? fabs(x) : x);
  const bool negative = bits >> 63;
  const ulong mantissa = mantissa_f64(bits, &position);
  if (bits == MINUS_ZERO) return 0u;
#endif
  if (isnan(x)) return SAW_OTHER_THAN_MINUS_ZERO | SAW_NAN;
  if (isinf(x))
    return SAW_OTHER_THAN_MINUS_ZERO | (negative ? SAW_MINUS_INFINITY : SAW_PLUS_INFINITY);
  words_add(words, mantissa, position, negative);
  return SAW_OTHER_THAN_MINUS_ZERO;
#endif
}

DEVICE ulong words_round(const ulong* words, uint saw, bool f64) {
  const int precision = f64 ? 53 : 24, lowest = f64 ? -1022 : -126;
  bool negative = false;
  Digits d;
  for (int pass = 0; pass < 2; ++pass) {
    d = digits_none();
    for (int w = 0; w < WORDS; ++w) digits_read(&d, (long)(negative ? 0UL - words[w] : words[w]));
    if (!digits_end(&d)) break;
    negative = true;
  }
  return settle(digits_round(&d, BASE, precision, lowest), negative, saw, precision, lowest);
}
