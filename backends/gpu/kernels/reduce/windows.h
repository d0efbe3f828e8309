// Windows: doubles that begin at grid lines WINDOW_BITS apart, so that what is added to them is cut
// there.
#pragma once

// 1.5 * 2^52 units of the window k, below terms of this biased exponent of f64.
DEVICE double window_line(uint top, int k) {
  return as_double(((ulong)(top + 1 + 52 - WINDOW_BITS * (k + 1)) << 52) | 0x0008000000000000UL);
}
