// The fast path of `exact`'s sums: expansions of three doubles, cut into folds that add up without
// rounding in any order. It tells when something doesn't fit: a range of more than about 150 bits,
// a NaN, an infinity.
#pragma once
#include "exact_sum_words.h"
#include "shuffle.h"

#if PRODUCTS
// Adds CHUNK products; the result is non-zero when something was lost, or is not finite.
DEVICE ulong add_products(Expansion* sum, const T* x, const T* y) {
  ulong lost = 0UL;
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
#if T_float
    lost |= expansion_add(sum, (double)x[k] * (double)y[k]);
#else
    lost |= expansion_add_product(sum, x[k], y[k]);
#endif
  }
  return lost;
}
#else
#if T_float
#define EXPONENT(x) (as_uint(x) & EXPONENT_MASK)
#define EXPONENT_MASK 0x7f800000u
#else
#define EXPONENT(x) ((uint)(as_ulong(x) >> 32) & EXPONENT_MASK)
#define EXPONENT_MASK 0x7ff00000u
#endif

#if USES_BINS
// Adds CHUNK floats where they and what came before allow it without a loss; false: nothing is
// added.
DEVICE bool add_chunk(Expansion* sum, const T* x) {
  const FloatSum floats = sum_floats(x, CHUNK);
  if (!floats_are_near(&floats) || !floats_are_finite(&floats)) return false;
  Expansion grown;
  double rest;
  grown.hi = two_sum(sum->hi, floats.sum, &rest);
  if (rest != 0.0) {
    grown.mid = two_sum(sum->mid, rest, &rest);
    grown.lo = two_sum(sum->lo, rest, &rest);
    if (rest != 0.0) return false;
    sum->mid = grown.mid;
    sum->lo = grown.lo;
  }
  sum->hi = grown.hi;
  return true;
}

// Adds CHUNK floats to the bins, which count the chunks they have taken.
DEVICE void add_to_bins(const T* x, uint* flags, LOCAL_POINTER double* bins, uint* binned) {
  if (*binned % (BIN_ADDITIONS / CHUNK) == 0u) {
    if (*binned == 0u)
      for (int b = 0; b < BINS; ++b) bins[b * THREADS] = 0.0;
    else
      bins_carry(bins, THREADS);
  }
  *binned += 1u;
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
    *flags |= as_uint(x[k]) != 0x80000000u ? FLAG_NOT_MINUS_ZERO : 0u;
    if (EXPONENT(x[k]) == EXPONENT_MASK)
      // special_flags() would take a double, for which registers are spilled.
      *flags |= x[k] != x[k] ? FLAG_NAN : x[k] > 0 ? FLAG_PLUS_INFINITY : FLAG_MINUS_INFINITY;
    else
      bins[bin_of(as_uint(x[k])) * THREADS] += (double)x[k];
  }
}

// Moves what the bins hold into the expansion, where it fits; else leaves it.
DEVICE void bins_close(Expansion* sum, LOCAL_POINTER const double* bins, uint* binned) {
  if (*binned == 0u) return;
  Expansion grown = *sum;
  ulong lost = 0UL;
#pragma unroll 1
  for (int b = 0; b < BINS && !lost; ++b) lost = expansion_add(&grown, bins[b * THREADS]);
  if (lost) return;
  *sum = grown;
  *binned = 0u;
}
#else
// Adds CHUNK elements; the result is non-zero when something was lost.
DEVICE ulong add_chunk(Expansion* sum, T* x, uint* flags) {
  ulong lost = 0UL;
  bool special = false;
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) special |= EXPONENT(x[k]) == EXPONENT_MASK;
  if (special) {
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
      const uint one = special_flags(x[k]);
      *flags |= one ? one | FLAG_NOT_MINUS_ZERO : 0u;  // not behind the question below: it spills
      if (one) x[k] = (T)-0.0;
    }
  }
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) lost |= expansion_add(sum, (double)x[k]);
  return lost;
}
#endif

#if T_DOUBLE
// Doubles of a known magnitude are cut at WINDOWS grid lines; the parts of one line add up without
// rounding in a number that starts at 1.5 * 2^52 grid units, whose own grid does the cutting.
#define WINDOWS 3
#define WINDOW_BITS 36
#define WINDOW_CHUNKS 1024  // 2^13 elements of at most 2^36 units are less than 2^51
#include "windows.h"

// Adds CHUNK doubles; *inside: the windows held all so far.
DEVICE ulong windows_add(Windows* w, Expansion* sum, T* x, uint* flags, bool* inside) {
  uint most = 0u;
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
    const uint magnitude = (uint)(as_ulong(x[k]) >> 32) & 0x7fffffffu;
    most = most > magnitude ? most : magnitude;
  }
  ulong lost = 0UL, rest = 0UL;
  const bool fits = *inside && windows_open(w, sum, &lost, most >> 20);
  if (!fits) return add_chunk(sum, x, flags);
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
    window_cut(w->at, x + k);
    window_cut(w->at + 1, x + k);
    rest |= as_ulong(x[k]) & 0x7fffffffffffffffUL;
  }
  if (rest) {
    rest = 0UL;
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
      window_cut(w->at + 2, x + k);
      rest |= as_ulong(x[k]) & 0x7fffffffffffffffUL;
    }
    if (rest) {
      *inside = false;
      windows_close(w, sum, &lost);
      w->top = 0u;
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) lost |= expansion_add(sum, x[k]);
    }
  }
  return lost;
}
#endif
#endif

// Loads and adds this work-item's share of the elements; a loss ends it.
DEVICE ulong add_elements(Tile t, Inputs in, Expansion* sum, uint* flags,
                          LOCAL_POINTER double* bins, uint* binned) {
  const bool aligned = align_inputs(&t, &in);
  ulong lost = 0UL;
#if T_DOUBLE && !PRODUCTS
  Windows windows;
  windows.top = windows.room = 0u;
  bool inside = true;
#endif
  for (Walk w = walk_begin(&t); w.row < t.rows && (USES_BINS || !lost); walk_on(&w, &t)) {
    T x[CHUNK];
    load_chunk(&t, &w, in.x, aligned, (T)-0.0, x);
    if (in.magnitude) {
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) x[k] = fabs(x[k]);
    }
#if KIND_DOT
    T y[CHUNK];
    load_chunk(&in.y_tile, &w, in.y, aligned, (T)0.0, y);  // -0 times 0 is -0
    lost = add_products(sum, x, y);
#elif PRODUCTS
    lost = add_products(sum, x, x);
#elif T_DOUBLE
    lost |= windows_add(&windows, sum, x, flags, &inside);
#elif USES_BINS
    if (!add_chunk(sum, x)) add_to_bins(x, flags, bins, binned);
#else
    lost |= add_chunk(sum, x, flags);
#endif
  }
#if T_DOUBLE && !PRODUCTS
  windows_close(&windows, sum, &lost);
#endif
#if USES_BINS
  bins_close(sum, bins, binned);
  lost = *binned;
#endif
  return lost;
}

// --- Lanes together ------------------------------------------------------------------------------

// The largest value among each result's lanes, in all of them.
DEVICE uint lanes_max(const Tile* t, uint value, LOCAL_POINTER uint* scratch) {
  const int me = local_x();
#if HAVE_WARPS
  if (t->step == 1) {
    for (int mask = 1; mask < t->lanes && mask < 32; mask *= 2) {
      const uint other = shuffle_xor(value, mask);
      value = value > other ? value : other;
    }
    if (t->lanes <= 32) return value;
    if (me % 32 == 0) scratch[me / 32] = value;
    sync();
    const int warp = (me & ~(t->lanes - 1)) / 32;
    for (int w = warp; w < warp + t->lanes / 32; ++w)
      value = value > scratch[w] ? value : scratch[w];
    return value;
  }
#endif
  scratch[me] = value;
  for (int s = t->lanes / 2; s > 0; s /= 2) {
    sync();
    if (t->lane < s && scratch[me] < scratch[me + s * t->step])
      scratch[me] = scratch[me + s * t->step];
  }
  sync();
  return scratch[tile_leader(t)];
}

// Adds the folds of each result's lanes, into the leader's.
DEVICE void lanes_add(const Tile* t, Folds* folds, LOCAL_POINTER double* scratch) {
  const int me = local_x();
#if HAVE_WARPS
  if (t->step == 1) {
    for (int mask = 1; mask < t->lanes && mask < 32; mask *= 2) {
#pragma unroll
      for (int k = 0; k < FOLDS; ++k) folds->part[k] += shuffle_xor_f64(folds->part[k], mask);
    }
    if (t->lanes <= 32) return;
    if (me % 32 == 0) {
#pragma unroll
      for (int k = 0; k < FOLDS; ++k) scratch[k * THREADS + me / 32] = folds->part[k];
    }
    sync();
    if (t->lane == 0)
      for (int w = me / 32 + 1; w < (me + t->lanes) / 32; ++w) {
#pragma unroll
        for (int k = 0; k < FOLDS; ++k) folds->part[k] += scratch[k * THREADS + w];
      }
    return;
  }
#endif
#pragma unroll
  for (int k = 0; k < FOLDS; ++k) scratch[k * THREADS + me] = folds->part[k];
  for (int s = t->lanes / 2; s > 0; s /= 2) {
    sync();
    if (t->lane < s) {
#pragma unroll
      for (int k = 0; k < FOLDS; ++k) {
        folds->part[k] += scratch[k * THREADS + me + s * t->step];
        scratch[k * THREADS + me] = folds->part[k];
      }
    }
  }
}

// Brings the sums of each result's lanes into its leader's folds; *top is their largest exponent
// with, in bit 11, whether anything but -0 was seen. The answer is non-zero where the folds don't
// hold it all.
DEVICE ulong combine(const Tile* t, const Expansion* sum, uint flags, LOCAL_POINTER uint* tops,
                     LOCAL_POINTER double* parts, Folds* folds, uint* top) {
  // Work-items that met nothing but -0 have exponent 0, so the largest carries the flag too.
  *top = lanes_max(t, expansion_exponent(sum) | (flags ? 2048u : 0u), tops);
  const ulong lost = folds_of(sum, *top & 2047u, folds);
  lanes_add(t, folds, parts);
  return (*top & 2047u) > FOLD_TOP_LIMIT ? 1UL : lost;
}
