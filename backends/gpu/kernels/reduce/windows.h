// Windows: doubles that begin at grid lines WINDOW_BITS apart, so that what is added to them is cut
// there.
#pragma once

// 1.5 * 2^52 units of the window k, below terms of this biased exponent of f64.
DEVICE double window_line(uint top, int k) {
  return as_double(((ulong)(top + 1 + 52 - WINDOW_BITS * (k + 1)) << 52) | 0x0008000000000000UL);
}

#ifdef WINDOWS
typedef struct Windows {
  double at[WINDOWS];  // parts above so many grid lines, from 1.5 * 2^52 of their units on
  uint top, room;      // the largest biased exponent that fits, 0: nothing; chunks that still do
} Windows;

// Moves what they hold to the sum; non-zero where that loses something.
DEVICE ulong windows_close(Windows* w, Expansion* sum) {
  ulong lost = 0UL;
  if (w->top == 0u) return lost;
#pragma unroll
  for (int k = 0; k < WINDOWS; ++k) lost |= expansion_add(sum, w->at[k] - window_line(w->top, k));
  w->top = 0u;
  return lost;
}

// Are the windows of terms up to this exponent normal numbers?
DEVICE bool windows_reach(uint exponent) { return exponent - 200u <= 1800u; }

// Makes room for a chunk of terms up to this exponent; non-zero where the sum loses something.
DEVICE ulong windows_open(Windows* w, Expansion* sum, uint exponent) {
  ulong lost = 0UL;
  if (exponent > w->top || w->room == 0u) {
    lost = windows_close(w, sum);
    w->top = exponent;
    w->room = WINDOW_CHUNKS;
#pragma unroll
    for (int k = 0; k < WINDOWS; ++k) w->at[k] = window_line(exponent, k);
  }
  w->room -= 1u;
  return lost;
}

// Leaves in *x what is below the grid line whose parts `at` adds up.
DEVICE void window_cut(double* at, double* x) {
  const double next = *at + *x;
  *x -= next - *at;
  *at = next;
}
#endif
