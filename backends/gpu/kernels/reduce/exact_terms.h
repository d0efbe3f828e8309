// The terms of an exact sum: elements, or products of two elements. A square is a product, too.
// The including file defines T and KIND.
#pragma once
#include "exact.h"

#if KIND_SQUARES || KIND_DOT
#define PRODUCTS 1
#else
#define PRODUCTS 0
#endif
#if T_float
#define T_DOUBLE 0
#define BASE (PRODUCTS ? -298 : -149)  // word 0 of a superaccumulator weighs 2^BASE
#define WORDS (PRODUCTS ? 20 : 11)
#else
#define T_DOUBLE 1
#define BASE (PRODUCTS ? -2148 : -1074)
#define WORDS (PRODUCTS ? 133 : 67)
#endif

#define TERM_OF(x, y) (PRODUCTS ? (double)(x) * (double)(y) : (double)(x))  // rounded for f64 alone

#if PRODUCTS
// x * y = (low + high * 2^64) * 2^(position + BASE), and its flags.
typedef struct Product {
  ulong low, high;
  int position;
  bool negative;
  uint flags;
} Product;

DEVICE Product product_of(T x, T y) {
  Product p;
  int x_position, y_position;
#if T_float
  const uint infinite = 0x7f800000u, sign = 0x80000000u, a = as_uint(x), b = as_uint(y);
  const ulong m = mantissa_f32(a, &x_position), n = mantissa_f32(b, &y_position);
  p.high = 0UL;
#else
  const ulong infinite = 0x7ff0000000000000UL, sign = 0x8000000000000000UL, a = as_ulong(x),
              b = as_ulong(y);
  const ulong m = mantissa_f64(a, &x_position), n = mantissa_f64(b, &y_position);
  p.high = mul_hi(m, n);
#endif
  p.low = m * n;
  p.position = x_position + y_position;
  p.negative = ((a ^ b) & sign) != 0;
  const bool zero = m == 0UL || n == 0UL;
  p.flags = zero && p.negative ? 0u : FLAG_NOT_MINUS_ZERO;
  if ((a & ~sign) < infinite && (b & ~sign) < infinite) return p;
  // NaN, or an infinity times zero; else an infinity.
  const bool nan = (a & ~sign) > infinite || (b & ~sign) > infinite || zero;
  p.low = p.high = 0UL;
  p.flags = FLAG_NOT_MINUS_ZERO | (nan          ? FLAG_NAN
                                   : p.negative ? FLAG_MINUS_INFINITY
                                                : FLAG_PLUS_INFINITY);
  return p;
}
#endif
