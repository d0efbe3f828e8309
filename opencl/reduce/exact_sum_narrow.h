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
  for (Walk w = walk_begin(t, CHUNK); w.row < t->rows && !lost; walk_on(&w, t)) {
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

// Adds up what the lanes of each result hold. True when all of it fits; then part[k * THREADS] of
// each leader's slot is fold k, and *top its exponent with, from bit 11, whether only -0 was seen.
DEVICE bool combine(const Tile* t, const Expansion* sum, ulong lost, uint saw,
                    LOCAL_POINTER uint* tops, LOCAL_POINTER double* part, LOCAL_POINTER uint* failed,
                    uint* top) {
  const int me = local_x();
  if (me == 0) *failed = 0u;
  // Work-items that saw nothing but -0 have exponent 0, so the largest carries the flag too.
  tops[me] = expansion_exponent(sum) | (saw ? 2048u : 0u);
  for (int s = t->lanes / 2; s > 0; s /= 2) {
    sync();
    if (t->lane < s && tops[me] < tops[me + s * t->step]) tops[me] = tops[me + s * t->step];
  }
  sync();
  *top = tops[tile_leader(t)];
  Folds folds;
  lost |= folds_of(sum, *top & 2047u, &folds);
  sync();
#pragma unroll
  for (int k = 0; k < FOLDS; ++k) part[k * THREADS + me] = folds.part[k];
  if (lost || (*top & 2047u) > FOLD_TOP_LIMIT) atomic_or(failed, 1u);
  for (int s = t->lanes / 2; s > 0; s /= 2) {
    sync();
    if (t->lane < s) {
#pragma unroll
      for (int k = 0; k < FOLDS; ++k)
        part[k * THREADS + me] += part[k * THREADS + me + s * t->step];
    }
  }
  sync();
  return *failed == 0u;
}
