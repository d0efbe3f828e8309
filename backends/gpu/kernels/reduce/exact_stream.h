// The fast path of `exact_stream`: what a work-item adds of its group's share. Floats that fit
// add up in a double without rounding; doubles and products are cut at grid lines, and the parts
// between the same two add up. Expansions of three doubles take both, and elements that don't fit.
#pragma once
#include "exact_sum_words.h"
#include "share.h"
#include "vectors.h"

#define LOST 16u   // beside FLAG_…: a work-item's three doubles don't hold its share,
#define UNCUT 32u  // or the parts that they are cut in don't hold them

#if KIND_DOT
// Vectors of the second input, which may begin elsewhere between two boundaries.
DEVICE void load_second(const Share* in, long v, T* y) {
  if ((ulong)in->second % sizeof(Vector) == 0)
    load_vectors(in->second, v, THREADS, in->vectors, true, y);
  else
    load_vectors(in->second, v, THREADS, in->vectors, false, y);
}
#endif

// A chunk's parts are CHUNK * 2^WINDOW_BITS units of a window at most; after WINDOW_CHUNKS of them,
// 2^51 units at most, the windows are closed.
#if !PRODUCTS
#define WINDOWS 2
#define WINDOW_BITS 36
#define WINDOW_CHUNKS (8192u / CHUNK)
#elif T_DOUBLE  // squares: 2 * 53 bits
#define WINDOWS 3
#define WINDOW_BITS 44
#define WINDOW_CHUNKS (128u / CHUNK)
#define WINDOW_RANGE 26  // how far below the first one's an exponent may be: 3 * 44 - 106
#else                    // products of floats: 48 bits
#define WINDOWS 2
#define WINDOW_BITS 42
#define WINDOW_CHUNKS (512u / CHUNK)
#define WINDOW_RANGE 36
#endif
#include "windows.h"

// The sum so far.
typedef struct Narrow {
  Expansion sum;
  ulong lost;
  uint flags;
#if !FLOATS
  Windows windows;
#endif
} Narrow;

DEVICE void add_one(Narrow* s, T a, T b) {
  const double x = PRODUCTS && T_DOUBLE ? fabs(a) : TERM_OF(a, b);
  const uint special = special_flags(x);
  s->flags |= special;
#if PRODUCTS && T_DOUBLE  // squares
  if (!special) s->lost |= expansion_add_product(&s->sum, a, a);
#else
  s->lost |= expansion_add(&s->sum, special ? -0.0 : x);
#endif
}

#if FLOATS
// Adds a chunk where nothing is lost by it; false: nothing is added.
DEVICE bool add_chunk(Narrow* s, const float* x, const float* y) {
  const FloatSum floats = sum_floats(x, CHUNK);
  if (!floats_are_near(&floats) || !floats_are_finite(&floats)) return false;
  double rest;
  const double hi = two_sum(s->sum.hi, floats.sum, &rest);
  const double mid = two_sum(s->sum.mid, rest, &rest);
  if (rest != 0.0) return false;
  s->sum.hi = hi;
  s->sum.mid = mid;
  return true;
}
#else
#if T_float && KIND_SQUARES
#define MAGNITUDE(x) (as_uint(x) & 0x7fffffffu)
#else
#define MAGNITUDE(x) ((uint)(as_ulong(x) >> 32) & 0x7fffffffu)
#endif

#if PRODUCTS
// Where the exponents are near enough, the last window takes a term's last bit: nothing is to be
// checked term by term.
DEVICE bool add_chunk(Narrow* s, const T* x, const T* y) {
  uint most = 0u, least = 0xffffffffu;
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
#if KIND_DOT
    const double one = TERM_OF(x[k], y[k]);
#else
    const T one = x[k];
#endif
    const uint magnitude = MAGNITUDE(one);
    most = most > magnitude ? most : magnitude;
    least = one == 0 || least < magnitude ? least : magnitude;
  }
#if KIND_DOT
  most >>= 20;
  least >>= 20;
#elif T_DOUBLE  // bounds of the squares' exponents
  most = 2u * (most >> 20) - 1022u;
  least = 2u * (least >> 20) - 1022u;
#else
  if (most >= 0x7f800000u) return false;
  most = 2u * (most >> 23) + 770u;
  least = 2u * (least >> 23) + 770u;
#endif
  Windows* w = &s->windows;
  if (!windows_open(w, &s->sum, &s->lost, most) || (int)(w->top - least) > WINDOW_RANGE)
    return false;
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
    double high = TERM_OF(x[k], y[k]);
#if T_DOUBLE
    double low = fma(x[k], x[k], -high);
    window_cut(w->at, &high);
    w->at[1] += high;
    window_cut(w->at + 1, &low);
    w->at[2] += low;
#else
    window_cut(w->at, &high);
    w->at[1] += high;
#endif
  }
  return true;
}
#else
DEVICE bool add_chunk(Narrow* s, const T* x, const T* y) {
  uint most = 0u;
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
    const uint magnitude = MAGNITUDE(x[k]);
    most = most > magnitude ? most : magnitude;
  }
  Windows* w = &s->windows;
  if (!windows_open(w, &s->sum, &s->lost, most >> 20)) return false;
  double first = w->at[0], second = w->at[1];
  ulong left = 0UL;
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
    double rest = x[k];
    window_cut(&first, &rest);
    window_cut(&second, &rest);
    left |= as_ulong(rest);
  }
  if (left << 1) return false;
  w->at[0] = first;
  w->at[1] = second;
  return true;
}
#endif
#endif

// This work-item's first vectors, whose places are known before earlier launches end.
DEVICE void load_first(const Share* in, T* x) {
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    Vector one = ALL_OF((T)-0.0);
    if (k < in->there) one = ((GLOBAL const Vector*)in->from)[in->mine + k * THREADS];
    unpack(one, x + k * VECTOR);
  }
}

// Adds the elements of a chunk one by one.
DEVICE void add_slowly(Narrow* s, const Share* in, long v) {
#pragma unroll 1
  for (int k = 0; k < CHUNK; ++k) {
    const long vector = v + k / VECTOR * THREADS;
    if (vector >= in->vectors) return;
    const long at = vector * VECTOR + k % VECTOR;
    const T x = in->from[at];
    add_one(s, in->magnitude ? fabs(x) : x, in->second[at]);
  }
}

// Adds this work-item's share; *flags are those of terms that its three doubles don't hold.
DEVICE Expansion add_share(const Share* in, uint* flags) {
  Narrow s;
  s.sum = expansion_zero();
  s.lost = 0UL;
  s.flags = 0u;
#if !FLOATS
  s.windows.top = s.windows.room = 0u;
#endif
  T x[CHUNK], next[CHUNK];
  long v = in->first + item_here();
  load_first(in, x);
#if KIND_DOT
  T y[CHUNK], next_y[CHUNK];
  load_second(in, v, y);
#else
  const T* y = x;
#endif
#pragma unroll 2
  for (; v < in->vectors && !s.lost; v += in->step) {
    load_vectors(in->from, v + in->step, THREADS, in->vectors, true, next);
#if KIND_DOT
    load_second(in, v + in->step, next_y);
#endif
    if (in->magnitude) {
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) x[k] = fabs(x[k]);
    }
    if (!add_chunk(&s, x, y)) add_slowly(&s, in, v);
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
      x[k] = next[k];
#if KIND_DOT
      y[k] = next_y[k];
#endif
    }
  }
  if (has_loose(in)) {
    const long at = loose_index(in);
    const T loose = in->from[at];
    add_one(&s, in->magnitude ? fabs(loose) : loose, in->second[at]);
  }
#if !FLOATS
  windows_close(&s.windows, &s.sum, &s.lost);
#endif
  *flags = s.flags | (s.lost ? LOST : 0u);
  return s.sum;
}

// --- Work-items together -------------------------------------------------------------------------

#if HAVE_WARPS
#define WARPS (THREADS / 32)
#define CUTS (PRODUCTS ? 4 : 3)
#define CUT_BITS 44            // 2^10 work-items' parts of 3 * 2^44 units are less than 2^56
#define CUT_TOP (CUTS * 44u)   // at smaller biased exponents a unit isn't a normal number,
#define CUT_TOP_LIMIT 2030u    // at larger ones a line or a sum could overflow
#define NOT_MINUS_ZERO 0x800u  // above the exponents: the largest carries it, too

// The sum of a warp's integers below 2^51, in each of its lanes.
DEVICE long warp_add(long x) {
  const long high = warp_sum((int)(x >> 26));
  return (high << 26) + (long)(uint)warp_sum((int)x & 0x3ffffff);
}

// The value of so many units.
DEVICE double units_of(long count, int exponent) {
  return (double)count * as_double((ulong)(uint)(exponent + 1023) << 52);
}

// Adds what a group's work-items hold, for the first warp: cut at the same lines, all parts are
// integers of known units; *below is the rest under the three doubles. UNCUT is set where they
// don't hold it all.
DEVICE void group_add(Expansion* sum, double* below, LOCAL_POINTER uint* flags,
                      LOCAL_POINTER ulong* scratch) {
  const int me = item_here(), lane = me % 32, warp = me / 32;
  const bool plain = as_ulong(sum->hi) == 0x8000000000000000UL;
  const ulong all = (as_ulong(sum->hi) | as_ulong(sum->mid) | as_ulong(sum->lo)) << 1;
  uint most = warp_max(expansion_exponent(sum) | (plain ? 0u : NOT_MINUS_ZERO));
  if (lane == 0) scratch[warp] = most;
  sync();
  most = warp_max(lane < WARPS ? (uint)scratch[lane] : 0u);
  const uint top = most & 2047u;
  long part[CUTS];
#pragma unroll
  for (int k = 0; k < CUTS; ++k) {
    const uint exponent = top + 1 + 52 - CUT_BITS * (k + 1);
    const double line = as_double(((ulong)exponent << 52) | 0x0008000000000000UL);
    const double hi = line + sum->hi, mid = line + sum->mid, lo = line + sum->lo;
    part[k] = (long)(as_ulong(hi) + as_ulong(mid) + as_ulong(lo) - 3 * as_ulong(line));
    sum->hi -= hi - line;
    sum->mid -= mid - line;
    sum->lo -= lo - line;
    part[k] = warp_add(part[k]);
    if (lane == 0) scratch[WARPS * (k + 1) + warp] = (ulong)part[k];
  }
  ulong lost = (as_ulong(sum->hi) | as_ulong(sum->mid) | as_ulong(sum->lo)) << 1;
  *sum = expansion_zero();
  *below = 0.0;
  if (top - CUT_TOP > CUT_TOP_LIMIT - CUT_TOP) lost = all;
  if (lost) atomic_or(flags, UNCUT);
  sync();
  if (warp > 0 || most == 0u) return;
  sum->hi = 0.0;
  if (top == 0u) return;
#pragma unroll
  for (int k = 0; k < CUTS; ++k)
    part[k] = warp_add(lane < WARPS ? (long)scratch[WARPS * (k + 1) + lane] : 0);
  // Carried upwards; but a double holds 53 bits of the first part: its last go to the second.
  const int unit = (int)top - 1022 - CUT_BITS;
  const long mask = (1L << CUT_BITS) - 1;
#pragma unroll
  for (int k = CUTS - 1; k > 0; --k) {
    part[k - 1] += part[k] >> CUT_BITS;
    part[k] &= mask;
  }
  part[1] += (part[0] & 255) << CUT_BITS;
  sum->hi = units_of(part[0] & ~255L, unit);
  sum->mid = units_of(part[1], unit - CUT_BITS);
#if PRODUCTS  // eight bits of the fourth part go to the third
  part[2] = (part[2] << 8) + (part[3] >> (CUT_BITS - 8));
  sum->lo = units_of(part[2], unit - 2 * CUT_BITS - 8);
  *below = units_of(part[3] & (mask >> 8), unit - 3 * CUT_BITS);
#else
  sum->lo = units_of(part[2], unit - 2 * CUT_BITS);
#endif
}
#else
// Adds what a group's work-items hold, for the first of them.
DEVICE void group_add(Expansion* sum, double* below, LOCAL_POINTER uint* flags,
                      LOCAL_POINTER ulong* scratch) {
  const int me = item_here();
  *below = 0.0;
  ulong lost = 0UL;
  scratch[me] = as_ulong(sum->hi);
  scratch[me + THREADS] = as_ulong(sum->mid);
  scratch[me + THREADS * 2] = as_ulong(sum->lo);
  sync();
  for (int k = 1; me == 0 && k < 3 * THREADS; ++k) {
    const double x = as_double(scratch[k]);
    if (k % THREADS) lost |= expansion_add(sum, k < THREADS || x != 0 ? x : -0.0);
  }
  if (lost) atomic_or(flags, UNCUT);
}
#endif
