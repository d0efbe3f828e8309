// Windows: doubles that begin at grid lines WINDOW_BITS apart, so that what is added to them is cut
// there.
#pragma once

// 1.5 * 2^52 units of the window k, below terms of this biased exponent of f64.
DEVICE double window_line(uint top, int k) {
  return as_double(((ulong)(top + 1 + 52 - WINDOW_BITS * (k + 1)) << 52) | 0x0008000000000000UL);
}

// Leaves in *x what is below the grid line whose parts `at` adds up.
DEVICE void window_cut(double* at, double* x) {
  const double next = *at + *x;
  *x -= next - *at;
  *at = next;
}

#ifdef WINDOWS
typedef struct Windows {
  double at[WINDOWS];  // parts above so many grid lines, from 1.5 * 2^52 of their units on
  uint top, room;      // the largest biased exponent that fits, 0: nothing; chunks that still do
} Windows;

// Moves what they hold to the sum; *lost is then non-zero where that loses something.
DEVICE void windows_close(const Windows* w, Expansion* sum, ulong* lost) {
  if (w->top == 0u) return;
#pragma unroll
  for (int k = 0; k < WINDOWS; ++k) *lost |= expansion_add(sum, w->at[k] - window_line(w->top, k));
}

// Makes room for a chunk of terms up to this exponent; false: there is none, as their units aren't
// normal numbers.
DEVICE bool windows_open(Windows* w, Expansion* sum, ulong* lost, uint exponent) {
  if (exponent - 200u > 1800u) return false;
  if (exponent > w->top || w->room == 0u) {
    windows_close(w, sum, lost);
    w->top = exponent;
    w->room = WINDOW_CHUNKS;
#pragma unroll
    for (int k = 0; k < WINDOWS; ++k) w->at[k] = window_line(exponent, k);
  }
  w->room -= 1u;
  return true;
}
#endif
