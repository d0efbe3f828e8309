// The narrow road of an exact sum: expansions of three doubles, cut into folds that add up without
// rounding in any order. It says so when something doesn't fit: a range of more than about 150 bits,
// a NaN, an infinity.
#pragma once
#include "exact.h"

// Adds CHUNK elements; the result is non-zero when something was lost.
DEVICE ulong add_chunk(Expansion* sum, const T* x) {
  ulong lost = 0UL;
#if T_float && !SQUARES
  // 16 floats within 2^25 of each other add up in double without rounding.
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
  if ((int)(most >> 23) - (int)(least >> 23) <= 25 && most < 0x7f800000u)
    return expansion_add(sum, even + odd);
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) lost |= expansion_add(sum, (double)x[k]);
#elif T_float
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) lost |= expansion_add(sum, (double)x[k] * (double)x[k]);
#elif SQUARES
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
    const ulong magnitude = as_ulong(x[k]) & 0x7fffffffffffffffUL;
    double error;
    const double square = two_square(x[k], &error);
    lost |= expansion_add(sum, square) | expansion_add(sum, error);
    // exact for 2^-484 <= |x| < 2^511
    if (magnitude - ((ulong)539 << 52) >= ((ulong)995 << 52)) lost |= magnitude;
  }
#else
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) lost |= expansion_add(sum, x[k]);
#endif
  return lost;
}

// Loads and adds this work-item's share of the elements; stops at the first loss.
DEVICE ulong add_elements(const Tile* t, GLOBAL const T* input, bool magnitude, Expansion* sum) {
  const bool aligned = tile_is_aligned(t, input);
  ulong lost = 0UL;
  for (Walk w = walk_begin(t); w.row < t->rows && !lost; walk_on(&w, t)) {
    T x[CHUNK];
    load_chunk(t, &w, input, aligned, (T)-0.0, x);
    if (magnitude) {
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) x[k] = fabs(x[k]);
    }
    lost = add_chunk(sum, x);
  }
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

#if HAVE_WARPS
DEVICE double shuffle_xor_f64(double x, int mask) {
  const uint low = shuffle_xor((uint)as_ulong(x), mask);
  const uint high = shuffle_xor((uint)(as_ulong(x) >> 32), mask);
  return as_double((ulong)high << 32 | low);
}
#endif

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

// What the lanes of each result hold, in its leader's folds; *top is their largest exponent with, in
// bit 11, whether anything but -0 was seen. The result is non-zero where the folds don't hold it all.
DEVICE ulong combine(const Tile* t, const Expansion* sum, uint saw, LOCAL_POINTER uint* tops,
                     LOCAL_POINTER double* parts, Folds* folds, uint* top) {
  // Work-items that saw nothing but -0 have exponent 0, so the largest carries the flag too.
  *top = lanes_max(t, expansion_exponent(sum) | (saw ? 2048u : 0u), tops);
  const ulong lost = folds_of(sum, *top & 2047u, folds);
  lanes_add(t, folds, parts);
  return (*top & 2047u) > FOLD_TOP_LIMIT ? 1UL : lost;
}
