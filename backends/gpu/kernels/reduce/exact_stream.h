// The narrow road of `exact_stream`: what a work-item adds of its group's share. Floats that fit add up in
// a double without rounding; doubles, and squares of floats, are cut at two grid lines, and the parts
// between the same two add up. Expansions of three doubles take both, and what doesn't fit.
#pragma once
#include "across_groups.h"
#include "exact_sum_words.h"

#define LOST 16u  // beside SAW_…: three doubles don't hold it all
#define SPECIAL (SAW_NAN | SAW_PLUS_INFINITY | SAW_MINUS_INFINITY)

// What a group adds: `vectors` of 16 bytes from the boundary at `from` on, a span here and the next
// `step` further; the last group has the elements before and after them, too.
typedef struct Share {
  GLOBAL const T* from;
  long vectors, first, step;
  int head, loose;  // elements before the vectors; before and after
  bool magnitude;
} Share;

DEVICE Share share_of(GLOBAL const T* input, long count, int splits, int options) {
  Share in;
  const int head = (int)((0UL - (ulong)input / sizeof(T)) % VECTOR);
  in.head = head < count ? head : (int)count;
  in.from = input + in.head;
  in.vectors = (long)((ulong)(count - in.head) / VECTOR);
  in.loose = (int)(count - in.vectors * VECTOR);
  in.first = group_x() * SPAN;
  in.step = splits * SPAN;
  in.magnitude = options & MAP_ABS;
  return in;
}

// Vectors v, v + apart, … below `end`; -0 in place of the others.
DEVICE void load_vectors(const Share* in, long v, int apart, long end, T* x) {
#pragma unroll
  for (int k = 0; k < CHUNK; k += VECTOR, v += apart) {
    Vector one = ALL_OF((T)-0.0);
    if (v < end) one = ((GLOBAL const Vector*)in->from)[v];
    x[k] = one.x;
    x[k + 1] = one.y;
#if VECTOR == 4
    x[k + 2] = one.z;
    x[k + 3] = one.w;
#endif
  }
}

// The loose element of this work-item, which may have one.
DEVICE bool has_loose(const Share* in, int splits) {
  return group_x() == splits - 1 && local_x() < in->loose;
}
DEVICE T loose_element(const Share* in) {
  const int k = local_x() - in->head;
  return in->from[k < 0 ? k : in->vectors * VECTOR + k];
}

// What was added so far.
typedef struct Narrow {
  Expansion sum;
  ulong lost;
  uint saw;
#if !FLOATS
  double at[2];    // parts above two grid lines, from 1.5 * 2^52 of their units on
  uint top, room;  // the largest biased exponent that fits; chunks that still do
#endif
} Narrow;

DEVICE void add_one(Narrow* s, double x) {
  uint said = 0u;
  if (x != x)
    said = SAW_NAN;
  else if (fabs(x) > 0x1.fffffffffffffp1023)
    said = x > 0 ? SAW_PLUS_INFINITY : SAW_MINUS_INFINITY;
  s->saw |= said;
  s->lost |= expansion_add(&s->sum, said ? -0.0 : x);
}

#if FLOATS
DEVICE void add_chunk(Narrow* s, const float* x) {
  // 8 floats within 2^26 of each other add up in double without rounding.
  uint most = 0u, least = 0xffffffffu;
  double even = x[0], odd = x[1];
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
    const uint magnitude = as_uint(x[k]) & 0x7fffffffu;
    most = most > magnitude ? most : magnitude;
    least = least < magnitude - 1u ? least : magnitude - 1u;  // zeros don't count
    if (k >= 2 && k % 2 == 0) even += (double)x[k];
    if (k >= 2 && k % 2 == 1) odd += (double)x[k];
  }
  double rest, lost;
  const double hi = two_sum(s->sum.hi, even + odd, &rest);
  const double mid = two_sum(s->sum.mid, rest, &lost);
  if ((int)(most >> 23) - (int)(least >> 23) <= 26 && most < 0x7f800000u && lost == 0.0) {
    s->sum.hi = hi;
    s->sum.mid = mid;
  } else {
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) add_one(s, x[k]);
  }
}
#else
#define WINDOW_BITS 36
#define WINDOW_CHUNKS (8192u / CHUNK)  // 2^13 parts of at most 2^36 units are less than 2^51

DEVICE double window_line(uint top, int k) {
  return as_double(((ulong)(top + 1 + 52 - WINDOW_BITS * (k + 1)) << 52) | 0x0008000000000000UL);
}

DEVICE void windows_close(Narrow* s) {
  if (s->top == 0u) return;
  s->lost |= expansion_add(&s->sum, s->at[0] - window_line(s->top, 0));
  s->lost |= expansion_add(&s->sum, s->at[1] - window_line(s->top, 1));
}

DEVICE void add_chunk(Narrow* s, double* x) {
  uint most = 0u;
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
    const uint magnitude = (uint)(as_ulong(x[k]) >> 32) & 0x7fffffffu;
    most = most > magnitude ? most : magnitude;
  }
  const uint exponent = most >> 20;
  if (exponent - 200u <= 1800u) {
    if (exponent > s->top || s->room == 0u) {
      windows_close(s);
      s->top = exponent;
      s->room = WINDOW_CHUNKS;
      s->at[0] = window_line(exponent, 0);
      s->at[1] = window_line(exponent, 1);
    }
    s->room -= 1u;
    ulong rest = 0UL;
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
#pragma unroll
      for (int level = 0; level < 2; ++level) {
        const double next = s->at[level] + x[k];
        x[k] -= next - s->at[level];
        s->at[level] = next;
      }
      rest |= as_ulong(x[k]);
    }
    if (rest << 1 == 0UL) return;
  }
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) add_one(s, x[k]);
}
#endif

// Terms of loaded elements.
DEVICE void add_loaded(Narrow* s, const Share* in, const T* x) {
  TERM term[CHUNK];
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) term[k] = TERM_OF(x[k]);
  if (in->magnitude) {
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) term[k] = fabs(term[k]);
  }
  add_chunk(s, term);
}

// Adds this work-item's share; *what says what its three doubles don't.
DEVICE Expansion add_share(const Share* in, int splits, uint* what) {
  Narrow s;
  s.sum = expansion_zero();
  s.lost = 0UL;
  s.saw = 0u;
#if !FLOATS
  s.top = s.room = 0u;
  s.at[0] = s.at[1] = 0.0;
#endif
  T x[CHUNK], next[CHUNK];
  long v = in->first + local_x();
  load_vectors(in, v, THREADS, in->vectors, x);
  while (v < in->vectors && !s.lost) {
    v += in->step;
    load_vectors(in, v, THREADS, in->vectors, next);
    add_loaded(&s, in, x);
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) x[k] = next[k];
  }
  if (has_loose(in, splits)) {
    const double loose = TERM_OF(loose_element(in));
    add_one(&s, in->magnitude ? fabs(loose) : loose);
  }
#if !FLOATS
  windows_close(&s);
#endif
  *what = s.saw | (s.lost ? LOST : 0u);
  return s.sum;
}

// --- Work-items together -------------------------------------------------------------------------

#define CUTS 3
#define CUT_BITS 46            // 32 lanes' parts of 3 * 2^46 units are less than 2^53
#define CUT_TOP_LIMIT 2030u    // at larger biased exponents a line or a sum could overflow
#define NOT_MINUS_ZERO 0x800u  // above the exponents: the largest carries it, too

#if HAVE_WARPS
DEVICE double shuffle_xor_f64(double x, int mask) {
  const uint low = shuffle_xor((uint)as_ulong(x), mask);
  const uint high = shuffle_xor((uint)(as_ulong(x) >> 32), mask);
  return as_double((ulong)high << 32 | low);
}

// Adds what a warp's lanes hold, in each of them: cut at the same lines, parts add up in any order.
// The result is non-zero where the parts don't hold it all.
DEVICE ulong warp_add(Expansion* sum) {
  const bool plain = as_ulong(sum->hi) == 0x8000000000000000UL;
  const uint most = warp_max(expansion_exponent(sum) | (plain ? 0u : NOT_MINUS_ZERO));
  if (most == 0u) return 0UL;  // nothing but -0
  const uint top = most & 2047u;
  double part[CUTS];
#pragma unroll
  for (int k = 0; k < CUTS; ++k) {
    const int unit = (int)top - 1022 - CUT_BITS * (k + 1);
    const int exponent = (unit > -1074 ? unit : -1074) + 52 + 1023;
    const double line = as_double(((ulong)(uint)exponent << 52) | 0x0008000000000000UL);
    const double hi = (line + sum->hi) - line, mid = (line + sum->mid) - line,
                 lo = (line + sum->lo) - line;
    sum->hi -= hi;
    sum->mid -= mid;
    sum->lo -= lo;
    part[k] = (hi + mid) + lo;
  }
  const ulong lost = (as_ulong(sum->hi) | as_ulong(sum->mid) | as_ulong(sum->lo)) << 1;
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
#pragma unroll
    for (int k = 0; k < CUTS; ++k) part[k] += shuffle_xor_f64(part[k], mask);
  }
  sum->hi = part[0];
  sum->mid = part[1];
  sum->lo = part[2];
  return top > CUT_TOP_LIMIT ? 1UL : lost;
}
#endif

// Adds what a group's work-items hold, for the first of them; non-zero where that doesn't hold it all.
DEVICE ulong group_add(Expansion* sum, LOCAL_POINTER double* scratch) {
  const int me = local_x();
  ulong lost = 0UL;
#if HAVE_WARPS
#define HOLDERS (THREADS / 32)
#pragma unroll 1
  for (int level = 0;; ++level) {
    lost |= warp_add(sum);
    if (level == 1) return lost;
    if (me % 32 == 0) {
      scratch[me / 32] = sum->hi;
      scratch[me / 32 + HOLDERS] = sum->mid;
      scratch[me / 32 + HOLDERS * 2] = sum->lo;
    }
    sync();
    if (me >= 32) return lost;
    *sum = expansion_zero();
    if (me < HOLDERS) {
      sum->hi = scratch[me];
      sum->mid = scratch[me + HOLDERS];
      sum->lo = scratch[me + HOLDERS * 2];
    }
  }
#else
#define HOLDERS THREADS
  scratch[me] = sum->hi;
  scratch[me + HOLDERS] = sum->mid;
  scratch[me + HOLDERS * 2] = sum->lo;
  sync();
  for (int k = 1; me == 0 && k < 3 * HOLDERS; ++k)
    if (k % HOLDERS) lost |= expansion_add(sum, k < HOLDERS || scratch[k] != 0 ? scratch[k] : -0.0);
#endif
  return lost;
}
