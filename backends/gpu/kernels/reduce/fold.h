// The functions that need no care for order: integer sums and products modulo 2^64; minima, maxima
// and their indexes through keys, unsigned integers whose order is the design's (NaN first, -0 <
// +0, reversed for maxima). An index goes with its key, and the lower one wins a tie.
#pragma once
#include "tile.h"

#if T_float
#define KEY uint
#define BITS(x) as_uint(x)
#define INFINITE 0x7f800000u
#elif T_double
#define KEY ulong
#define BITS(x) as_ulong(x)
#define INFINITE 0x7ff0000000000000UL
#elif T_uint
#define KEY uint
#define BITS(x) (x)
#else
#define KEY ulong
#define BITS(x) (x)
#endif
#define SIGN ((KEY)1 << (8 * sizeof(KEY) - 1))
#define LAST_KEY (~(KEY)0)
#if KIND_SUM || KIND_PROD
#define VALUE ulong
#else
#define VALUE KEY
#endif
#define NO_INDEX 0x7fffffffffffffffL

typedef struct Folded {
  VALUE value;
  long index;  // of ARG alone
} Folded;

DEVICE Folded folded_nothing() {
  Folded f;
#if KIND_SUM
  f.value = 0UL;
#elif KIND_PROD
  f.value = 1UL;
#else
  f.value = LAST_KEY;
#endif
  f.index = NO_INDEX;
  return f;
}

DEVICE void fold(Folded* a, VALUE value, long index) {
#if KIND_SUM
  a->value += value;
#elif KIND_PROD
  a->value *= value;
#elif KIND_EXTREME
  if (value < a->value) a->value = value;
#else
  if (value < a->value || (value == a->value && index < a->index)) {
    a->value = value;
    a->index = index;
  }
#endif
}

// An element as what is folded: a mapped integer in 64 bits, or a key.
DEVICE VALUE value_of(T x, int options) {
#if KIND_SUM || KIND_PROD
#if T_uint
  ulong wide = options & SIGNED ? (ulong)(long)(int)x : (ulong)x;
#else
  ulong wide = x;
#endif
  if ((options & MAP_ABS) && (options & SIGNED) && (long)wide < 0) wide = 0UL - wide;
  return options & MAP_SQUARE ? wide * wide : wide;
#else
  KEY key = BITS(x);
#if T_float || T_double
  if (options & MAP_ABS) key &= ~SIGN;
  if ((key & ~SIGN) > INFINITE) return 0;
  key = key & SIGN ? ~key : key | SIGN;
#else
  if (options & SIGNED) {
    if (!(options & MAP_ABS))
      key ^= SIGN;
    else if (key & SIGN)
      key = 0 - key;
  }
#endif
  return options & LARGEST ? ~key : key;
#endif
}

#if KIND_EXTREME
// The element (mapped) that a key stands for.
DEVICE KEY element_of(KEY key, int options) {
#if T_float || T_double
  if (key == 0) return INFINITE | (INFINITE >> 1);  // a quiet NaN
  if (options & LARGEST) key = ~key;
  return key & SIGN ? key ^ SIGN : ~key;
#else
  if (options & LARGEST) key = ~key;
  return (options & SIGNED) && !(options & MAP_ABS) ? key ^ SIGN : key;
#endif
}
#endif

DEVICE void store_folded(GLOBAL uchar* output, long at, const Folded* f, int options) {
#if KIND_EXTREME
  ((GLOBAL KEY*)output)[at] = element_of(f->value, options);
#elif KIND_ARG
  ((GLOBAL long*)output)[at] = f->index;
#else
  ((GLOBAL ulong*)output)[at] = f->value;
#endif
}
