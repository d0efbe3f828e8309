// How the rung `residues` gets an element of C: the integer D from its residues, a bound of what
// rounding the operands changed, and the element, if no other one lies within that bound.
#pragma once
#include "certain.h"
#include "residue_recombine.h"

// The lowest bytes of four integers.
DEVICE uint bytes_of(uint e0, uint e1, uint e2, uint e3) {
  return __byte_perm(__byte_perm(e0, e1, 0x0040), __byte_perm(e2, e3, 0x0040), 0x5410);
}

DEVICE double power_of_two(int e) { return as_double((ulong)(e + 1023) << 52); }

// The greatest scale with which a lane's norm is at most `bound`. Lanes that aren't finite have 0.
DEVICE int scale_of(double squares, double bound) {
  if (!(squares > 0 && squares < 0x1p600)) return 0;
  const double most = bound * bound;
  const int scale = ((int)(as_ulong(most) >> 52) - (int)(as_ulong(squares) >> 52) + 1) >> 1;
  return squares * power_of_two(2 * scale) <= most ? scale : scale - 1;
}

DEVICE Side side_of(const GLOBAL Lane* lane, long k, double bound) {
  Side side = {};
  side.scale = scale_of(lane->squares, bound);
  const double unit = power_of_two(side.scale), rounding = 0.5 * sqrt((double)k);
  side.norm = (float)(sqrt(lane->squares) * unit * 1.000001 + rounding * 1.000001);
  side.greatest = (float)((double)as_float(lane->greatest) * unit * 1.000001 + 0.50001);
  side.lost = (float)(sqrt(lane->lost_squares) * 1.001);
  side.lost_sum = (float)(lane->lost_sum * 1.001);
  side.mask = lane->mask;
  if (lane->greatest >= 0x7f800000u) side.lost = side.lost_sum = INFINITY;
  return side;
}

// D, of two or three limbs, as an exact pair of f64.
template <int LIMB_COUNT>
DEVICE double pair_of(double d0, double d1, double d2, double* rest) {
  if (LIMB_COUNT == 2) return two_sum(d1 * 0x1p32, d0, rest);
  double low;
  const double high = two_sum(d2 * 0x1p54, d1 * 0x1p27, &low);
  return two_sum(high, low + d0, rest);
}

typedef struct Scaling {
  float alpha, beta;
  int flags;
} Scaling;

// *result = alpha D + beta c rounded, where D is `sum` up to 4 units of its last place and up to
// `error`. False if another number may be nearest, or if anything isn't finite.
DEVICE bool round_scaled(double sum, double error, Scaling scaling, float c, float* result) {
  const double product = scaling.alpha * sum;
  const double all = product + (double)scaling.beta * (double)c;
  const double width =
      fma(fabs((double)scaling.alpha), error, fabs(product) * 0x1p-49 + fabs(all) * 0x1p-51);
  *result = (float)(all - width);
  return width < 0x1p500 && as_uint(*result) == as_uint((float)(all + width));
}

// The same from D's limbs, exactly: the element's bits, and bit 32 if it is certain. It is out of
// line, because few elements need it.
template <int LIMB_COUNT>
static __device__ __noinline__ ulong round_limbs(double d0, double d1, double d2, double unit,
                                                 double error, Scaling scaling, float old) {
  float result;
  double low;
  const double high = pair_of<LIMB_COUNT>(d0, d1, d2, &low);
  if (error == 0 && low == 0 && scaling.alpha == 1.0f && scaling.flags == MULTIPLY)
    return 1ul << 32 | as_uint((float)(high * unit));
  const bool certain = round_pair(high * unit, low * unit, error * unit, scaling.alpha,
                                  scaling.beta, old, scaling.flags, &result);
  return (certain ? 1ul << 32 : 0ul) | as_uint(result);
}

DEVICE float error_of(const Side& a, const Side& b) {
  return fminf(a.lost * b.norm, a.lost_sum * b.greatest) +
         fminf(a.norm * b.lost, a.greatest * b.lost_sum);
}
template <int LIMB_COUNT>
DEVICE double sum_of(const double (&d)[LIMB_COUNT]) {
  return LIMB_COUNT == 2 ? fma(d[1], 0x1p32, d[0])
                         : fma(fma(d[LIMB_COUNT - 1], 0x1p27, d[1]), 0x1p27, d[0]);
}

// *result = alpha D + beta c rounded, from D's limbs; false if it isn't certain.
template <int LIMB_COUNT>
DEVICE bool round_element(const double (&d)[LIMB_COUNT], const Side& a, const Side& b,
                          Scaling scaling, float old, float* result) {
  const bool zeros = (a.mask & b.mask) == 0;  // a sum of zeros
  float error = error_of(a, b);
  if (zeros && error < INFINITY) error = 0;
  const double unit = power_of_two(-a.scale) * power_of_two(-b.scale);
  if (round_scaled(sum_of(d) * unit, error * unit, scaling, old, result)) return true;
  const ulong found =
      round_limbs<LIMB_COUNT>(d[0], d[1], d[LIMB_COUNT - 1], unit, error, scaling, old);
  *result = as_float((uint)found);
  return found >> 32 != 0;
}
