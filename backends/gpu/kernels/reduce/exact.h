// The arithmetic of exact sums, in words that CUDA, OpenCL C and host C++ share: error-free
// transformations and three-term expansions for the fast path; a superaccumulator (one fixed-point
// number over the whole range of a format, in 32-bit steps) for the fallback; one correct rounding
// for both. After Knuth and Dekker (two_sum), Rump, Ogita and Oishi (extraction), Kulisch and Neal.
#pragma once

// --- Expansions: a sum kept as hi + mid + lo, no bit lost ----------------------------------------

// Returns the rounded sum; *error is what rounding lost, exactly. NaN where a or b is not finite.
DEVICE double two_sum(double a, double b, double* error) {
  const double sum = a + b;
  const double b_part = sum - a;
  *error = (a - (sum - b_part)) + (b - b_part);
  return sum;
}

// Returns the rounded product; *error is exact where its magnitude is from 2^-968 to below 2^1023,
// and where a factor is zero.
DEVICE double two_product(double x, double y, double* error) {
  const double product = x * y;
  *error = fma(x, y, -product);
  return product;
}

// Floats added up in a double, and what tells whether that lost anything.
typedef struct FloatSum {
  double sum;
  uint most;   // the largest magnitude's bits
  uint least;  // the smallest one's but for zeros, less one
} FloatSum;

DEVICE FloatSum sum_floats(const float* x, const int count) {
  FloatSum s;
  double even = x[0], odd = x[1];
  s.most = 0u;
  s.least = 0xffffffffu;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const uint magnitude = as_uint(x[k]) & 0x7fffffffu;
    s.most = s.most > magnitude ? s.most : magnitude;
    s.least = s.least < magnitude - 1u ? s.least : magnitude - 1u;
    if (k >= 2 && k % 2 == 0) even += (double)x[k];
    if (k >= 2 && k % 2 == 1) odd += (double)x[k];
  }
  s.sum = even + odd;
  return s;
}

// 16 floats within 2^25 of each other add up in double without rounding.
DEVICE bool floats_are_near(const FloatSum* s) {
  return (int)(s->most >> 23) - (int)(s->least >> 23) <= 25;
}
DEVICE bool floats_are_finite(const FloatSum* s) { return s->most < 0x7f800000u; }

typedef struct Expansion {
  double hi, mid, lo;
} Expansion;

// The sum of nothing. -0 is neutral: a sum of floats is -0 only when every term is.
DEVICE Expansion expansion_zero() {
  Expansion e;
  e.hi = -0.0;
  e.mid = 0.0;
  e.lo = 0.0;
  return e;
}

// Adds x; returns what three terms can't hold, as bits shifted to drop the sign: non-zero means
// that the expansion has lost something, or met a NaN or an infinity.
DEVICE ulong expansion_add(Expansion* e, double x) {
  double rest;
  e->hi = two_sum(e->hi, x, &rest);
  e->mid = two_sum(e->mid, rest, &rest);
  e->lo = two_sum(e->lo, rest, &rest);
  return as_ulong(rest) << 1;
}

// Adds x * y. The error goes below the product: its zero is +0, and hi says whether all terms were
// -0.
DEVICE ulong expansion_add_product(Expansion* e, double x, double y) {
  double error, rest;
  const double product = two_product(x, y, &error);
  const ulong magnitude = as_ulong(product) & 0x7fffffffffffffffUL;
  ulong lost = expansion_add(e, product);
  e->mid = two_sum(e->mid, error, &rest);
  e->lo = two_sum(e->lo, rest, &rest);
  lost |= as_ulong(rest) << 1;
  const bool inexact = magnitude - ((ulong)55 << 52) >= ((ulong)1991 << 52);
  return inexact && x != 0.0 && y != 0.0 ? 1UL : lost;
}

// --- Folds: expansions of many work-items added in any order ------------------------------------
// With `top` an upper bound of every exponent, each term is cut at the same FOLDS grid lines,
// FOLD_BITS apart; the pieces of one fold then add up in double without rounding (up to 4096
// terms), whatever the order. Below the last line everything must be zero.

#define FOLDS 4
#define FOLD_BITS 40
#define FOLD_TOP_LIMIT 2030u  // at larger biased exponents a grid line or a sum could overflow

typedef struct Folds {
  double part[FOLDS];
} Folds;

// The biased exponent of the largest term.
DEVICE uint expansion_exponent(const Expansion* e) {
  const uint hi = (uint)(as_ulong(e->hi) >> 52) & 2047u;
  const uint mid = (uint)(as_ulong(e->mid) >> 52) & 2047u;
  const uint lo = (uint)(as_ulong(e->lo) >> 52) & 2047u;
  const uint most = hi > mid ? hi : mid;
  return most > lo ? most : lo;
}

// Exponent of grid line k when the largest biased exponent is `top`; denormals end at -1074.
DEVICE int fold_grid(uint top, int k) { return (int)top - 1022 - FOLD_BITS * (k + 1); }

// Cuts the expansion; returns 0, or non-zero bits when the folds don't hold all of it.
DEVICE ulong folds_of(const Expansion* e, uint top, Folds* folds) {
  double hi = e->hi, mid = e->mid, lo = e->lo;
#pragma unroll
  for (int k = 0; k < FOLDS; ++k) {
    const int grid = fold_grid(top, k) > -1074 ? fold_grid(top, k) : -1074;
    // 1.5 * 2^(grid + 52): adding it rounds to a multiple of 2^grid.
    const double line = as_double(((ulong)(uint)(grid + 52 + 1023) << 52) | 0x0008000000000000UL);
    const double hi_part = (line + hi) - line;
    const double mid_part = (line + mid) - line;
    const double lo_part = (line + lo) - line;
    hi -= hi_part;
    mid -= mid_part;
    lo -= lo_part;
    folds->part[k] = (hi_part + mid_part) + lo_part;
  }
  return (as_ulong(hi) | as_ulong(mid) | as_ulong(lo)) << 1;
}

// --- Numbers as integers -------------------------------------------------------------------------

// mantissa * 2^(position - 1074) with the sign of the bits; finite doubles only.
DEVICE ulong mantissa_f64(ulong bits, int* position) {
  const int exponent = (int)(bits >> 52) & 2047;
  *position = exponent ? exponent - 1 : 0;
  return (bits & 0x000fffffffffffffUL) | (exponent ? 0x0010000000000000UL : 0UL);
}

// mantissa * 2^(position - 149).
DEVICE ulong mantissa_f32(uint bits, int* position) {
  const int exponent = (int)(bits >> 23) & 255;
  *position = exponent ? exponent - 1 : 0;
  return (ulong)((bits & 0x007fffffu) | (exponent ? 0x00800000u : 0u));
}

// --- The superaccumulator ------------------------------------------------------------------------
// Word w weighs 2^(base + 32 w) and is a signed 64-bit number in two halves of 32 bits, each added
// to by 32-bit atomics (native on every device; 64-bit ones in local memory are loops). A word
// takes 2^31 digits of 32 bits before it could overflow; a product has one for each word. `stride`
// is the distance between words.

// Adds a signed 64-bit value to one word.
DEVICE void word_add(LOCAL_POINTER uint* low, LOCAL_POINTER uint* high, ulong value) {
  const uint low_part = (uint)value;
  uint high_part = (uint)(value >> 32);
  if (low_part) high_part += atomic_add(low, low_part) + low_part < low_part ? 1u : 0u;
  if (high_part) atomic_add(high, high_part);
}

// Adds mantissa * 2^position, counted from the accumulator's base, negated where asked.
DEVICE void accumulator_add(LOCAL_POINTER uint* low, LOCAL_POINTER uint* high, int stride,
                            ulong mantissa, int position, bool negative) {
  if (mantissa == 0UL) return;
  if (position < 0) {  // the bits below the base are zero: the value is a multiple of it
    mantissa >>= -position;
    position = 0;
  }
  const int word = position >> 5, shift = position & 31;
  const ulong bottom = mantissa << shift;
  ulong digit[3];
  digit[0] = bottom & 0xffffffffUL;
  digit[1] = bottom >> 32;
  digit[2] = shift ? mantissa >> (64 - shift) : 0UL;
#pragma unroll
  for (int k = 0; k < 3; ++k)
    if (digit[k])
      word_add(low + (word + k) * stride, high + (word + k) * stride,
               negative ? 0UL - digit[k] : digit[k]);
}

// --- Bins: floats of any range ------------------------------------------------------------------
// They add up exactly in doubles of their own, one for each BIN_EXPONENTS exponents: multiples of
// the lowest's last bit, 2^39 of them at most. After BIN_ADDITIONS in one of them, what exceeds a
// bin's own exponents moves on to the next; the last bin takes what is larger than any float.
// `stride` is the distance between bins.

#define BIN_EXPONENTS 16
#define BINS 17
#define BIN_ADDITIONS 8192u

// The bin of a float with these bits.
DEVICE int bin_of(uint bits) { return (int)(bits >> 23 & 255u) / BIN_EXPONENTS; }

DEVICE void bins_carry(LOCAL_POINTER double* bins, int stride) {
  for (int b = 0; b < BINS - 1; ++b) {
    // 1.5 * 2^52 times the next bin's unit: adding it rounds to a multiple of that.
    const double line = as_double(((ulong)(uint)(1023 + 52 + BIN_EXPONENTS * (b + 1) - 150) << 52) |
                                  0x0008000000000000UL);
    const double part = (bins[b * stride] + line) - line;
    bins[b * stride] -= part;
    bins[(b + 1) * stride] += part;
  }
}

// --- Rounding
// -------------------------------------------------------------------------------------------

// Reads a number's words from low to high and keeps the three highest digits and whether anything
// non-zero lies below them. A negative number is read a second time with its words negated.
typedef struct Digits {
  long carry;
  uint top, next, last;   // the highest non-zero digit and the two below it
  uint rest;              // non-zero when a lower digit is
  uint before1, before2;  // the two digits read last
  uint below;             // or of all digits before those
  int top_word;           // -1: the number is zero so far
  int count;
} Digits;

DEVICE Digits digits_none() {
  Digits d;
  d.carry = 0;
  d.top = d.next = d.last = d.rest = d.before1 = d.before2 = d.below = 0;
  d.top_word = -1;
  d.count = 0;
  return d;
}

DEVICE void digits_read(Digits* d, long word) {
  const long value = word + d->carry;
  const uint digit = (uint)((ulong)value & 0xffffffffUL);
  d->carry = value >> 32;
  if (digit) {
    d->top = digit;
    d->next = d->before1;
    d->last = d->before2;
    d->rest = d->below;
    d->top_word = d->count;
  }
  d->below |= d->before2;
  d->before2 = d->before1;
  d->before1 = digit;
  d->count += 1;
}

// Reads what the highest word's carry leaves; returns whether the number is negative.
DEVICE bool digits_end(Digits* d) {
  digits_read(d, 0);
  digits_read(d, 0);
  return d->carry < 0;
}

// The magnitude's bits rounded to nearest-even, word 0 weighing 2^base; infinity past the range.
DEVICE ulong digits_round(const Digits* d, int base, bool f64) {
  const int precision = f64 ? 53 : 24, lowest = f64 ? -1022 : -126;
  if (d->top_word < 0) return 0UL;
  const int zeros = clz(d->top);
  ulong mantissa = (((ulong)d->top << 32) | d->next) << zeros;
  if (zeros) mantissa |= d->last >> (32 - zeros);
  const bool sticky = d->rest != 0 || (uint)(d->last << zeros) != 0;
  const int exponent = base + 32 * d->top_word + 31 - zeros;  // of the mantissa's first bit

  const ulong infinity = (ulong)(1 - 2 * lowest + 2) << (precision - 1);
  if (exponent > 1 - lowest) return infinity;
  const int drop = 64 - precision + (exponent < lowest ? lowest - exponent : 0);
  if (drop > 64) return 0UL;
  const ulong kept = drop == 64 ? 0UL : mantissa >> drop;
  const ulong lost = drop == 64 ? mantissa : mantissa << (64 - drop);
  const ulong half_way = 0x8000000000000000UL;
  const bool up = lost > half_way || (lost == half_way && (sticky || (kept & 1UL)));
  const ulong scale = exponent < lowest ? 0UL : (ulong)(exponent - lowest) << (precision - 1);
  const ulong bits = scale + kept + (up ? 1UL : 0UL);
  return bits > infinity ? infinity : bits;
}

// Folds as five words; word 0 weighs 2^fold_grid(top, FOLDS - 1).
DEVICE void folds_to_words(const Folds* folds, uint top, long* words) {
  long integer[FOLDS];
#pragma unroll
  for (int k = 0; k < FOLDS; ++k) {
    int position;
    const ulong bits = as_ulong(folds->part[k]);
    const ulong mantissa = mantissa_f64(bits, &position);
    const int shift = position - 1074 - fold_grid(top, k);  // the part is a multiple of the grid
    const ulong magnitude = mantissa == 0UL ? 0UL
                            : shift >= 0    ? mantissa << shift
                                            : mantissa >> -shift;
    integer[k] = bits >> 63 ? -(long)magnitude : (long)magnitude;
  }
  words[0] = integer[3];                                        // FOLD_BITS apart: 0, 40, 80, 120
  words[1] = integer[2] * 256;                                  // 40 = 32 + 8
  words[2] = (long)((ulong)integer[1] & 0xffffffffUL) * 65536;  // 80 = 64 + 16
  words[3] = (integer[1] >> 32) * 65536 + (long)((ulong)integer[0] & 0xffffffffUL) * 16777216;
  words[4] = (integer[0] >> 32) * 16777216;  // 120 = 96 + 24
}

// Rounds a + b + c + d where that follows from the sum's first two doubles, which is nearly always;
// else returns false. An exact zero comes out as +0.
DEVICE bool round_quickly(double a, double b, double c, double d, bool f64, ulong* bits) {
  double rest1, rest2, rest3, low;
  double top = two_sum(a, b, &rest1);
  low = two_sum(rest1, c, &rest2);
  rest2 = two_sum(rest2, d, &rest3);
  top = two_sum(top, low, &low);
  low = two_sum(low, rest2, &rest2);
  top = two_sum(top, low, &low);  // top is the rounded sum of top + low
  *bits = top == 0.0 ? 0UL : as_ulong(top);
  const bool finite = (as_ulong(top) << 1) < 0xffe0000000000000UL;
  if (!finite) return false;
  if (rest2 != 0.0 || rest3 != 0.0) {
    // The rest decides nothing where low with it is neither zero nor half of top's last bit.
    const double left = 2.0 * (fabs(rest2) + fabs(rest3)), magnitude = fabs(low);
    const ulong exponent = *bits >> 52 & 2047UL;
    if (exponent <= 53UL || *bits << 12 == 0UL) return false;
    const double half_bit = as_double((exponent - 53UL) << 52);
    if (!(left < magnitude) || !(magnitude + left < half_bit)) return false;
  }
  if (f64) return true;
  // Rounded to odd first, so that rounding to f32 is the only one.
  if (low != 0.0 && !(*bits & 1UL)) *bits += (low > 0.0) == (top > 0.0) ? 1UL : ~0UL;
  *bits = as_uint((float)as_double(*bits));
  return true;
}

// --- Flags: terms that no fixed-point number holds -----------------------------------------------

#define FLAG_NAN 1u
#define FLAG_PLUS_INFINITY 2u
#define FLAG_MINUS_INFINITY 4u
#define FLAG_NOT_MINUS_ZERO 8u  // without it an exact zero is -0
#define FLAG_IN_WORDS 16u       // the partial sum lies in words, not in folds
#define FLAGS_SPECIAL (FLAG_NAN | FLAG_PLUS_INFINITY | FLAG_MINUS_INFINITY)

// The flags of a term that isn't finite; 0 of others.
DEVICE uint special_flags(double x) {
  if (x != x) return FLAG_NAN;
  if (fabs(x) <= 0x1.fffffffffffffp1023) return 0u;
  return x > 0 ? FLAG_PLUS_INFINITY : FLAG_MINUS_INFINITY;
}

// The result's bits from the magnitude's, its sign and the flags of all terms.
DEVICE ulong result_bits(ulong magnitude, bool negative, uint flags, bool f64) {
  const ulong sign = f64 ? 0x8000000000000000UL : 0x80000000UL;
  const ulong infinity = f64 ? 0x7ff0000000000000UL : 0x7f800000UL;
  const uint infinities = flags & (FLAG_PLUS_INFINITY | FLAG_MINUS_INFINITY);
  if ((flags & FLAG_NAN) || infinities == (FLAG_PLUS_INFINITY | FLAG_MINUS_INFINITY))
    return infinity | (f64 ? 0x0008000000000000UL : 0x00400000UL);
  if (infinities) return infinities == FLAG_PLUS_INFINITY ? infinity : infinity | sign;
  if (magnitude == 0UL && !(flags & FLAG_NOT_MINUS_ZERO)) return sign;
  return negative ? magnitude | sign : magnitude;
}

// The bits of the sum of `count` words, word 0 weighing 2^base.
DEVICE ulong round_words(const long* words, const int count, int base, uint flags, bool f64) {
  bool negative = false;
  Digits d;
  for (int pass = 0; pass < 2; ++pass) {
    d = digits_none();
#pragma unroll
    for (int w = 0; w < count; ++w) digits_read(&d, negative ? -words[w] : words[w]);
    if (!digits_end(&d)) break;
    negative = true;
  }
  return result_bits(digits_round(&d, base, f64), negative, flags, f64);
}
