// The narrow road of an exact sum: expansions of three doubles, cut into folds that add up without
// rounding in any order. It says so when something doesn't fit: a range of more than about 150 bits,
// a NaN, an infinity.
#pragma once
#include "exact_terms.h"

// Adds CHUNK terms, y being x but of a dot product; the result is non-zero when something was lost.
DEVICE ulong add_chunk(Expansion* sum, const T* x, const T* y) {
  ulong lost = 0UL;
#if T_float && !PRODUCTS
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
  for (int k = 0; k < CHUNK; ++k) lost |= expansion_add(sum, (double)x[k] * (double)y[k]);
#elif PRODUCTS
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) lost |= expansion_add_product(sum, x[k], y[k]);
#else
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) lost |= expansion_add(sum, x[k]);
#endif
  return lost;
}

// Loads and adds this work-item's share of the elements; stops at the first loss.
DEVICE ulong add_elements(const Tile* t, const Inputs* in, Expansion* sum) {
  bool aligned = tile_is_aligned(t, in->x);
#if KIND_DOT
  aligned = aligned && tile_is_aligned(&in->y_tile, in->y);
#endif
  ulong lost = 0UL;
  for (Walk w = walk_begin(t); w.row < t->rows && !lost; walk_on(&w, t)) {
    T x[CHUNK];
    load_chunk(t, &w, in->x, aligned, (T)-0.0, x);
    if (in->magnitude) {
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) x[k] = fabs(x[k]);
    }
#if KIND_DOT
    T y[CHUNK];
    load_chunk(&in->y_tile, &w, in->y, aligned, (T)0.0, y);  // -0 times 0 is -0
    lost = add_chunk(sum, x, y);
#else
    lost = add_chunk(sum, x, x);
#endif
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
