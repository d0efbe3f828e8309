// One element of an exact product, computed by a warp or a group: as a chain of pairs, then, where
// that isn't certain (certain.h), in a superaccumulator (reduce/exact.h), whose sum, times alpha
// and plus beta c, is rounded once. The includer says LANES, a warp's work-items, and WARPS, those
// whose words stand beside each other.
#pragma once
#define KIND_DOT 1
#include "certain.h"
#include "reduce/exact_terms.h"
#include "reduce/shuffle.h"

#define AT_ONCE 8
// A warp's copies of a superaccumulator. The total of all copies holds 2^31 terms, to which the
// host keeps k (refuse_terms in gemm_exact.hpp).
#define EACH 4
#define COPIES (WARPS * EACH)
// The product's words times alpha, which weighs 2^ALPHA_BASE or a multiple.
#define ALPHA_BASE (T_DOUBLE ? -1074 : -149)
#define SCALED_WORDS (WORDS + (T_DOUBLE ? 70 : 10))
#if T_DOUBLE
#define MANTISSA_OF(x, position) mantissa_f64(as_ulong(x), position)
#define OF_BITS(bits) as_double(bits)
#else
#define MANTISSA_OF(x, position) mantissa_f32(as_uint(x), position)
#define OF_BITS(bits) as_float((uint)(bits))
#endif

// A row of A and a column of B, and how they become an element of C.
typedef struct Element {
  const GLOBAL T *x, *y;
  long x_stride, y_stride, k;
  T alpha, beta, old;
  int flags;
} Element;

// Who computes an element, and its numbers in local memory: `copies` of the words, COPIES apart,
// the words times alpha, WARPS apart, the flags of its terms, and two sums for each warp.
typedef struct Team {
  bool whole;  // all warps of the group
  int lane, size, copies;
  LOCAL_POINTER uint *low, *high, *scaled_low, *scaled_high, *flags;
  LOCAL_POINTER double* sums;
} Team;

DEVICE void sync_team(const Team* t) {
#if HAVE_WARPS
  if (WARPS > 1 && t->whole)
    sync();
  else
    sync_warp();
#endif
}

// Both become the team's sums, with the same bits for all of it.
DEVICE void team_sums(const Team* t, double* x, double* y) {
#if HAVE_WARPS
  for (int mask = LANES / 2; mask > 0; mask /= 2) {
    *x += shuffle_xor_f64(*x, mask);
    *y += shuffle_xor_f64(*y, mask);
  }
  if (WARPS == 1 || !t->whole) return;
  sync();
  if (t->lane % LANES == 0) t->sums[t->lane / LANES] = *x, t->sums[WARPS + t->lane / LANES] = *y;
  sync();
  *x = *y = 0.0;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) *x += t->sums[w], *y += t->sums[WARPS + w];
#endif
}

DEVICE void add_scaled(const Team* t, ulong value, int position, bool negative) {
  accumulator_add(t->scaled_low, t->scaled_high, WARPS, value, position, negative);
}

// The total of word `i` of all copies.
DEVICE long word_of(const Team* t, int i) {
  ulong total = 0UL;
  for (int c = 0; c < t->copies; ++c)
    total += (ulong)t->high[i * COPIES + c] << 32 | t->low[i * COPIES + c];
  return (long)total;
}

// The digits of a number of `count` words, its copies' words or those times alpha.
DEVICE Digits digits_of(const Team* t, bool scaled, bool* negative) {
  const int count = scaled ? SCALED_WORDS : WORDS;
  Digits d;
  *negative = false;
  for (int pass = 0; pass < 2; ++pass) {
    d = digits_none();
    for (int i = 0; i < count; ++i) {
      const long word =
          !scaled ? word_of(t, i)
                  : (long)((ulong)t->scaled_high[i * WARPS] << 32 | t->scaled_low[i * WARPS]);
      digits_read(&d, *negative ? -word : word);
    }
    if (!digits_end(&d)) break;
    *negative = true;
  }
  return d;
}

// The element where a NaN or an infinity takes part, as IEEE 754 has it: only signs count.
DEVICE T special_element(const Team* t, const Element* e, uint flags) {
  const uint both = FLAG_PLUS_INFINITY | FLAG_MINUS_INFINITY;
  const double infinity = as_double(0x7ff0000000000000UL);
  double sum = infinity, scaled = 0.0, kept = 0.0;
  if ((flags & FLAG_NAN) || (flags & both) == both) {
    sum = infinity - infinity;
  } else if (flags & both) {
    sum = flags & FLAG_PLUS_INFINITY ? infinity : -infinity;
  } else {
    bool negative;
    const Digits d = digits_of(t, false, &negative);
    sum = d.top_word < 0 ? 0.0 : negative ? -1.0 : 1.0;
  }
  if (flags || special_flags((double)e->alpha)) scaled = (double)e->alpha * sum;
  if (special_flags((double)e->beta) || special_flags((double)e->old))
    kept = (double)e->beta * (double)e->old;
  return (T)(scaled + kept);
}

// The element from superaccumulators. All lanes return it. It is hardly ever needed, so its text
// stands apart.
NOT_INLINED T element_of_words(const Team team, const Element element) {
  const Team* const t = &team;
  const Element* const e = &element;
  sync_team(t);
  for (int i = t->lane; i < WORDS * t->copies; i += t->size) {
    const int at = i / t->copies * COPIES + i % t->copies;
    t->low[at] = t->high[at] = 0u;
  }
  for (int i = t->lane; i < SCALED_WORDS; i += t->size)
    t->scaled_low[i * WARPS] = t->scaled_high[i * WARPS] = 0u;
  if (t->lane == 0) *t->flags = 0u;
  sync_team(t);
  uint special = 0u;
  for (long l = t->lane; l < e->k; l += t->size) {
    const Product p = product_of(e->x[l * e->x_stride], e->y[l * e->y_stride]);
    const int copy = (t->lane + (int)(l >> 29)) % t->copies;
    special |= p.flags & FLAGS_SPECIAL;
    accumulator_add(t->low + copy, t->high + copy, COPIES, p.low, p.position, p.negative);
    if (T_DOUBLE)
      accumulator_add(t->low + copy, t->high + copy, COPIES, p.high, p.position + 64, p.negative);
  }
  if (special) atomic_or(t->flags, special);
  sync_team(t);
  special = *t->flags;
  if (special || special_flags((double)e->alpha) || special_flags((double)e->beta) ||
      special_flags((double)e->old))
    return special_element(t, e, special);

  int position;
  const ulong alpha = MANTISSA_OF(e->alpha, &position);
  const ulong alpha_low = alpha & 0xffffffffUL, alpha_high = alpha >> 32;
  for (int i = t->lane; i < WORDS; i += t->size) {
    const long word = word_of(t, i);
    const ulong value = word < 0 ? 0UL - (ulong)word : (ulong)word;
    const ulong value_low = value & 0xffffffffUL, value_high = value >> 32;
    const bool negative = (word < 0) != (e->alpha < (T)0);
    const int at = 32 * i + position;
    add_scaled(t, value_low * alpha_low, at, negative);
    add_scaled(t, value_high * alpha_low, at + 32, negative);
    add_scaled(t, value_low * alpha_high, at + 32, negative);
    add_scaled(t, value_high * alpha_high, at + 64, negative);
  }
  if (t->lane == 0 && (e->flags & ADD_C)) {
    const Product p = product_of(e->beta, e->old);
    add_scaled(t, p.low, p.position - ALPHA_BASE, p.negative);
    if (T_DOUBLE) add_scaled(t, p.high, p.position - ALPHA_BASE + 64, p.negative);
  }
  sync_team(t);
  bool negative;
  const Digits d = digits_of(t, true, &negative);
  return OF_BITS(result_bits(digits_round(&d, BASE + ALPHA_BASE, T_DOUBLE), negative,
                             FLAG_NOT_MINUS_ZERO, T_DOUBLE));
}

// A work-item's next AT_ONCE terms, `step` apart, of which `left` steps of k are there.
DEVICE void read_terms(const GLOBAL T** x, const GLOBAL T** y, const Element* e, long left,
                       int step, T* x_terms, T* y_terms) {
  const int there = left < step * AT_ONCE ? (int)left : step * AT_ONCE;
#pragma unroll
  for (int i = 0; i < AT_ONCE; ++i, *x += step * e->x_stride, *y += step * e->y_stride) {
    x_terms[i] = i * step < there ? **x : (T)0;
    y_terms[i] = i * step < there ? **y : (T)0;
  }
}

// The element, by pairs with this base and error (certain.h) or else by words. Terms are read
// while those before them are added. Where no product of f32 leaves a rest, as with integers,
// nothing is lost.
DEVICE T element_of(const Team* t, const Element* e, double base, double error) {
  const GLOBAL T *x = e->x + t->lane * e->x_stride, *y = e->y + t->lane * e->y_stride;
  T x_terms[AT_ONCE], y_terms[AT_ONCE], x_next[AT_ONCE], y_next[AT_ONCE];
  read_terms(&x, &y, e, e->k - t->lane, t->size, x_terms, y_terms);
  const double begin = PAIR_BEGIN * base;
  double hi = begin, lo = 0.0;
  ulong rests = 0UL;
  for (long left = e->k - t->lane; left > 0;) {
    left -= t->size * AT_ONCE;
    read_terms(&x, &y, e, left, t->size, x_next, y_next);
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
      rests |= as_ulong(pair_add(&hi, &lo, (double)x_terms[i], (double)y_terms[i])) << 1;
      x_terms[i] = x_next[i], y_terms[i] = y_next[i];
    }
  }
  hi -= begin;
  team_sums(t, &hi, &lo);
  T result;
  if (round_pair(hi, lo, error, e->alpha, e->beta, e->old, e->flags, &result)) return result;
  double with_rests = T_DOUBLE || rests ? 1.0 : 0.0, none = 0.0;
  team_sums(t, &with_rests, &none);
  if (with_rests == 0.0 && round_pair(hi, lo, 0.0, e->alpha, e->beta, e->old, e->flags, &result))
    return result;
  return element_of_words(*t, *e);
}

// Computes e with the element that `to` has, and stores it there.
DEVICE void store_element(const Team* t, Element* e, double base, double error, GLOBAL T* to) {
  e->old = e->flags & ADD_C ? *to : (T)0;
  const T result = element_of(t, e, base, error);
  sync_team(t);
  if (t->lane == 0) *to = result;
}

// The place of the lowest bit that is set.
DEVICE int first_bit(uint bits) { return 31 - clz(bits & (0u - bits)); }
