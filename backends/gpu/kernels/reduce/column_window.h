// A work-item holds two doubles of a column, which begin at 1.5 * 2^52 of their units, so that it
// is cut there; and in the end an integer, which adds up with others in any order.
#pragma once
#include "digits.h"
#include "exact.h"

#define WINDOW_BITS 32    // between the units of a column's two doubles
#define WINDOW_MARGIN 8u  // exponents that may still come
#define MOST_TOP 254u     // of finite numbers
#include "windows.h"

typedef struct Column {
  double first, second;
  uint top;    // the largest biased exponent that fits
  uint minus;  // its sign bit is set while all elements have theirs
  uint flags;
} Column;

DEVICE double column_line(uint top, int k) { return window_line(top + (1023u - 127u), k); }

DEVICE void window_open(Column* c, uint top) {
  c->minus = 0xffffffffu;
  c->flags = 0u;
  c->top = top;
  c->first = column_line(top, 0);
  c->second = column_line(top, 1);
}

// It holds high * 2^32 + low of the second double's units.
typedef struct Part {
  long high, low;
} Part;

DEVICE Part part_of(const Column* c) {
  Part p;
  p.high = (long)(as_ulong(c->first) - as_ulong(column_line(c->top, 0)));
  p.low = (long)(as_ulong(c->second) - as_ulong(column_line(c->top, 1)));
  return p;
}

// Moves what low has above 32 bits.
DEVICE Part part_carried(Part p) {
  p.high += p.low >> 32;
  p.low &= 0xffffffffL;
  return p;
}

// Adds it to digits, and flags to theirs.
DEVICE void part_in_digits(Part p, uint top, uint flags, LOCAL_POINTER uint* digits) {
  const int position = (int)top + 1 - 127 - 2 * WINDOW_BITS - BASE;
  p = part_carried(p);
  digits_add(digits, (ulong)p.low, position, 0u, 3);
  digits_add(digits, (ulong)(p.high < 0 ? -p.high : p.high), position + 32, (uint)(p.high >> 63),
             5);
  if (flags) atomic_or(digits + DIGITS * DIGIT_STEP, flags);
}

// The top of a window that takes this exponent, and some more that may come.
DEVICE uint top_above(uint exponent) {
  return exponent + WINDOW_MARGIN < MOST_TOP ? exponent + WINDOW_MARGIN : MOST_TOP;
}

// The same part in units of a higher top; *lost is then non-zero where that loses bits.
DEVICE Part part_raised(Part p, uint top, uint to, uint* lost) {
  const uint down = to - top, shift = down & 31u;
  p = part_carried(p);
  const ulong both = (ulong)p.high << 32 | (ulong)p.low;
  const uint low = (uint)(both >> shift);
  *lost |= down > 31u ? (uint)both | (uint)(both >> 32) | (uint)(p.high >> 32)
                      : low << shift ^ (uint)p.low;
  p.high >>= shift;
  p.low = (long)low;
  return p;
}

// Makes room for larger elements. Where what it held lies too low for that, digits take it.
DEVICE void window_rise(Column* c, uint top, LOCAL_POINTER uint* digits) {
  uint lost = 0u;
  Part p = part_raised(part_of(c), c->top, top, &lost);
  if (lost) {
    part_in_digits(part_of(c), c->top, 0u, digits);
    c->flags |= FLAG_IN_WORDS;
    p.high = p.low = 0;
  }
  c->top = top;
  c->first = as_double(as_ulong(column_line(top, 0)) + (ulong)p.high);
  c->second = as_double(as_ulong(column_line(top, 1)) + (ulong)p.low);
}

// Four elements of a column, whose exponents are `most` at most and, but for zeros, `least` at
// least.
typedef struct Four {
  float x[VECTORS];
  uint most, least;
} Four;

// The largest exponent.
DEVICE uint most_of(const float* x) {
  uint most = 0u;
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    const uint magnitude = as_uint(x[k * VECTOR]) & 0x7fffffffu;
    most = most > magnitude ? most : magnitude;
  }
  return most >> 23;
}

DEVICE Four four_of(Column* c, const float* x) {
  Four f;
  f.most = 0u;
  f.least = 0xffffffffu;
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    f.x[k] = x[k * VECTOR];
    const uint magnitude = as_uint(f.x[k]) & 0x7fffffffu;
    f.most = f.most > magnitude ? f.most : magnitude;
    f.least = f.least < magnitude - 1u ? f.least : magnitude - 1u;
    c->minus &= as_uint(f.x[k]);
  }
  f.most >>= 23;
  f.least >>= 23;
  return f;
}

// Is the last bit of an element of this exponent one of the second double's?
DEVICE bool window_reaches(const Column* c, uint exponent) {
  return exponent + 2u * WINDOW_BITS - 24u >= c->top;
}

// Do they add up without rounding, in the column's doubles?
DEVICE bool column_takes(const Column* c, const Four* f) {
  return f->most <= c->top && (int)(f->most - f->least) <= 25 && window_reaches(c, f->least);
}

DEVICE void column_add(Column* c, const Four* f) {
  double sum = ((double)f->x[0] + (double)f->x[1]) + ((double)f->x[2] + (double)f->x[3]);
  window_cut(&c->first, &sum);
  c->second += sum;
}

// The same of any four elements; flags say which weren't finite, and whether digits took something.
DEVICE void column_add_any(Column* c, const Four* f, LOCAL_POINTER uint* digits) {
  if (f->most > c->top && f->most <= MOST_TOP) window_rise(c, top_above(f->most), digits);
  if (column_takes(c, f)) {
    column_add(c, f);
    return;
  }
#pragma unroll 1
  for (int k = 0; k < VECTORS; ++k) {
    const uint bits = as_uint(f->x[k]), magnitude = bits & 0x7fffffffu;
    if (magnitude == 0u) continue;
    if (magnitude >> 23 <= c->top && window_reaches(c, magnitude >> 23)) {
      double one = f->x[k];
      window_cut(&c->first, &one);
      c->second += one;
      continue;
    }
    int position;
    const ulong mantissa = mantissa_f32(bits, &position);
    digits_add(digits, mantissa, position - 149 - BASE, (uint)((int)bits >> 31), 3);
    c->flags |= FLAG_IN_WORDS;
    if (magnitude > 0x7f800000u) c->flags |= FLAG_NAN;
    if (magnitude == 0x7f800000u) c->flags |= bits >> 31 ? FLAG_MINUS_INFINITY : FLAG_PLUS_INFINITY;
  }
}

// The bits of the magnitude, rounded once: what a double or 64 bits don't hold makes their last bit
// odd. low is carried.
DEVICE ulong part_round(Part p, uint top, const bool f64) {
  const uint low = p.high < 0 ? 0u - (uint)p.low : (uint)p.low;
  const ulong high = p.high < 0 ? ~(ulong)p.high + (low == 0u ? 1UL : 0UL) : (ulong)p.high;
  const int zeros = high ? clz(high) : 64;
  ulong bits = (ulong)low << 32;
  if (high) bits = high << zeros | bits >> 1 >> (63 - zeros);
  if (zeros < 32 && low << zeros) bits |= 1UL;
  const int exponent = (int)top + 1 - 127 - 2 * WINDOW_BITS + 32 - zeros;
  const double unit = as_double((ulong)(uint)(exponent + 1023) << 52);
  if (f64) return as_ulong((double)bits * unit);
  return as_uint((float)((double)(bits >> 11 | (bits & 2047UL ? 1UL : 0UL)) * (2048.0 * unit)));
}
