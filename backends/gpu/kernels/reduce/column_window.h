// A work-item holds two doubles of a column, which begin at 1.5 * 2^52 of their units, so that it
// is cut there; and in the end an integer, which adds up with others in any order.
#pragma once
#include "digits.h"
#include "exact.h"

#define WINDOW_BITS 32    // between the units of a column's two doubles
#define WINDOW_MARGIN 4u  // exponents that may still come
#define MOST_TOP 254u     // of finite numbers
#include "windows.h"

typedef struct Column {
  double first, second;
  uint top;    // the largest biased exponent that fits
  uint minus;  // its sign bit is set while all elements have theirs
} Column;

DEVICE double column_line(uint top, int k) { return window_line(top + (1023u - 127u), k); }

DEVICE void window_open(Column* c, uint top) {
  c->top = top;
  c->first = column_line(top, 0);
  c->second = column_line(top, 1);
}

// It holds *high * 2^32 + *low of the second double's units.
DEVICE void window_read(const Column* c, long* high, uint* low) {
  const long second = (long)(as_ulong(c->second) - as_ulong(column_line(c->top, 1)));
  *high = (long)(as_ulong(c->first) - as_ulong(column_line(c->top, 0))) + (second >> 32);
  *low = (uint)second;
}

// Adds it to digits; false: it held nothing.
DEVICE bool window_close(const Column* c, LOCAL_POINTER uint* digits) {
  long high;
  uint low;
  window_read(c, &high, &low);
  const int position = (int)c->top + 1 - 127 - 2 * WINDOW_BITS - BASE;
  if (high == 0 && low == 0u) return false;
  digits_add(digits, (ulong)low, position, 0u, 3);
  digits_add(digits, (ulong)(high < 0 ? -high : high), position + 32, (uint)(high >> 63), 5);
  return true;
}

// Makes room for larger elements; true: what it held went to the digits, as it lies too low.
DEVICE bool window_rise(Column* c, uint top, LOCAL_POINTER uint* digits) {
  const bool empty = as_ulong(c->first) == as_ulong(column_line(c->top, 0)) &&
                     as_ulong(c->second) == as_ulong(column_line(c->top, 1));
  if (empty) {
    window_open(c, top);
    return false;
  }
  Column up;
  window_open(&up, top);
  double high = c->first - column_line(c->top, 0), low = c->second - column_line(c->top, 1);
  window_cut(&up.first, &high);
  window_cut(&up.second, &high);
  window_cut(&up.first, &low);
  window_cut(&up.second, &low);
  const bool lost = high != 0.0 || low != 0.0;
  if (lost) {
    window_close(c, digits);
    window_open(&up, top);
  }
  c->first = up.first;
  c->second = up.second;
  c->top = top;
  return lost;
}

// Four elements of a column, whose exponents are `most` at most and, but for zeros, `least` at
// least.
typedef struct Four {
  float x[VECTORS];
  uint most, least;
} Four;

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

// The same of any four elements; returns the flags of those that aren't finite, and
// FLAG_IN_WORDS where digits took something.
DEVICE uint column_add_any(Column* c, const Four* f, LOCAL_POINTER uint* digits) {
  uint flags = 0u;
  if (f->most > c->top && f->most <= MOST_TOP) {
    const uint top = f->most + WINDOW_MARGIN < MOST_TOP ? f->most + WINDOW_MARGIN : MOST_TOP;
    if (window_rise(c, top, digits)) flags = FLAG_IN_WORDS;
  }
  if (column_takes(c, f)) {
    column_add(c, f);
    return flags;
  }
#pragma unroll
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
    flags |= FLAG_IN_WORDS;
    if (magnitude > 0x7f800000u) flags |= FLAG_NAN;
    if (magnitude == 0x7f800000u) flags |= bits >> 31 ? FLAG_MINUS_INFINITY : FLAG_PLUS_INFINITY;
  }
  return flags;
}

// --- A column's sum as an integer ---------------------------------------------------------------
// high * 2^48 + (low >> 16), in units of 2^(8 * place - 190), where place is low's second byte
// (255: of nothing) and flags are its first. Most parts of a column have one place, and to move one
// to the next is a shift by a constant: a fold of parts is a few dozen instructions a step.
typedef struct Part {
  long high;
  ulong low;
} Part;

#define PART_NOTHING ((ulong)255 << 8)

DEVICE void part_of(const Column* c, Part* p) {
  long high;
  uint low;
  window_read(c, &high, &low);
  const int up = (int)(c->top & 7u);
  p->high = high >> (16 - up);
  p->low = ((ulong)high << 32 | low) << up << 16 | (ulong)(c->top >> 3) << 8;
  if (high == 0 && low == 0u) p->low = PART_NOTHING;
  if (!(c->minus >> 31)) p->low |= FLAG_NOT_MINUS_ZERO;
}

DEVICE uint part_place(const Part* p) { return (uint)(p->low >> 8) & 255u; }
DEVICE int part_unit(const Part* p) { return 8 * (int)part_place(p) - 190; }

// Moves it to a lower place, where there is room; else says FLAG_IN_WORDS.
DEVICE void part_lower(Part* p, uint place) {
  const ulong flags = p->low & 255UL;
  ulong low = p->low >> 16;
  if (p->high == 0 && low == 0UL) return;
#pragma unroll 1
  for (uint at = part_place(p); at > place; --at) {
    if (p->high >> 36 != p->high >> 63) {
      p->low |= FLAG_IN_WORDS;
      return;
    }
    p->high = (long)((ulong)p->high << 8 | low >> 40);
    low = low << 24 >> 16;
  }
  p->low = low << 16 | flags;
}

DEVICE void part_add(Part* a, Part* b) {
  const uint a_place = part_place(a), b_place = part_place(b);
  const uint place = a_place < b_place ? a_place : b_place;
  if (a_place > place) part_lower(a, place);
  if (b_place > place) part_lower(b, place);
  const ulong low = (a->low >> 16) + (b->low >> 16);
  a->high += b->high + (long)(low >> 48);
  a->low = low << 16 | (ulong)place << 8 | ((a->low | b->low) & 255UL);
}

// The sum's bits, rounded.
DEVICE ulong part_round(const Part* p, bool f64) {
  ulong high = (ulong)(p->high >> 16), low = ((ulong)p->high << 48) + (p->low >> 16);
  const bool negative = p->high < 0;
  if (negative) {
    high = ~high + (low == 0UL ? 1UL : 0UL);
    low = 0UL - low;
  }
  Digits d = digits_none();
  digits_read(&d, (long)(low & 0xffffffffUL));
  digits_read(&d, (long)(low >> 32));
  digits_read(&d, (long)(high & 0xffffffffUL));
  digits_read(&d, (long)(high >> 32));
  return result_bits(digits_round(&d, part_unit(p), f64), negative, (uint)p->low & 15u, f64);
}
