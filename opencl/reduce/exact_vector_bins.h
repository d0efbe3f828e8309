// Sums of f64 by two bins a lane, six additions a term where expansion_add8() has eighteen. A bin is a sum
// that begins at an anchor, so large that its exponent never changes: it takes the multiples of its unit
// out of a term, exactly, and leaves less than a unit for the next one (Demmel and Nguyen's indexed sums).
//
//   |x| < 2^(e + 1), 2^7 of them      anchors 1.5 * 2^(e + 10), 1.5 * 2^(e - 34)      unit 2^(e - 86)
//
// What the second bin leaves would be lost; only terms below 2^-34 of a lane's largest leave something.
#pragma once

#define TERMS (PLAIN_ROW / LANES)
#define ANCHOR(exponent, up) as_double8((exponent) + ((ulong)(up) << 52) | (ulong)1 << 51)

// What `bin` can't take of x.
DEVICE double8 bin_add(double8* bin, double8 x) {
  const double8 sum = *bin + x, rest = x - (sum - *bin);
  *bin = sum;
  return rest;
}

// The largest magnitude in each lane of PLAIN_ROW neighbours.
DEVICE ulong8 plain_most(GLOBAL const double* p) {
  ulong8 most = 0UL;
  for (int i = 0; i < TERMS; ++i) {
    call_ahead(p + i * LANES);
    most = max(most, as_ulong8(fabs(vload8(i, p))));
  }
  return most;
}

// Adds up to `count` times PLAIN_ROW neighbours and tells how many times it did: not those that would lose
// something, or where a lane has zeros alone, whose sign counts. Each time it looks for the largest of the
// next ones, so that memory is read while it adds: 31 -> 39 GB/s on 2 cores of a Xeon, where a pass of its own did that.
DEVICE long add_plainly(Expansion8* sum, GLOBAL const double* p, long count, bool magnitude,
                        ulong8* lost) {
  const ulong kept = magnitude ? 0x7fffffffffffffffUL : ~0UL;
  ulong8 most = plain_most(p);
  for (long done = 0; done < count; ++done, p += PLAIN_ROW) {
    const ulong8 exponent = most & (ulong)0x7ff << 52;
    if (any_bit8(as_ulong8(exponent - ((ulong)100 << 52) > (ulong)1900 << 52))) return done;
    GLOBAL const double* const next = done + 1 < count ? p + PLAIN_ROW : p;
    const double8 high = ANCHOR(exponent, 10), low = ANCHOR(exponent, -34);
    double8 highs = high, lows = low;
    ulong8 left = 0UL;
    most = 0UL;
    for (int i = 0; i < TERMS; ++i) {
      call_ahead(next + i * LANES);
      most = max(most, as_ulong8(fabs(vload8(i, next))));
      const double8 x = as_double8(as_ulong8(vload8(i, p)) & kept);
      left |= as_ulong8(bin_add(&lows, bin_add(&highs, x)));
    }
    if (any_bit8(left << 1 | *lost)) return done;
    *lost |= expansion_add8(sum, highs - high);
    *lost |= expansion_add8(sum, lows - low);
  }
  return count;
}
