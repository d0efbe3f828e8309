// How the rung `residues` gets an element of C: the integer D from its residues, a bound of what
// rounding the operands changed, and the element, if no other one lies within that bound.
#pragma once
#include "certain.h"
#include "residue_recombine.h"

DEVICE double power_of_two(int e) { return as_double((ulong)(e + 1023) << 52); }

// The greatest scale with which a lane's norm is at most `bound`. Lanes that aren't finite have 0.
DEVICE int scale_of(double squares, double bound) {
  if (!(squares > 0 && squares < 0x1p600)) return 0;
  return (int)(as_ulong(bound / (sqrt(squares) * (1 + 1e-11))) >> 52) - 1023;
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

// The same from D's limbs, exactly. The code is there once, because most elements don't need it.
template <int LIMB_COUNT>
static __device__ __noinline__ bool round_limbs(double d0, double d1, double d2, double sum,
                                                double unit, double error, bool plain,
                                                Scaling scaling, const GLOBAL float* c,
                                                float* result) {
  const float old = scaling.flags & ADD_C ? *c : 0.0f;
  if (!plain && round_scaled(sum * unit, error * unit, scaling, old, result)) return true;
  double low;
  const double high = pair_of<LIMB_COUNT>(d0, d1, d2, &low);
  if (plain && error == 0 && low == 0) {
    *result = (float)(high * unit);
    return true;
  }
  return round_pair(high * unit, low * unit, error * unit, scaling.alpha, scaling.beta, old,
                    scaling.flags, result);
}

// *result = alpha D + beta c rounded, from D's limbs; false if it isn't certain. `plain`: alpha is
// 1 and C isn't added. Then the last bits of D in f64 tell how far the next boundary between two
// f32 is.
template <int LIMB_COUNT>
DEVICE bool round_element(const double (&d)[LIMB_COUNT], const Side& a, const Side& b, bool plain,
                          Scaling scaling, const GLOBAL float* c, float* result) {
  float error = fminf(a.lost * b.norm, a.lost_sum * b.greatest) +
                fminf(a.norm * b.lost, a.greatest * b.lost_sum);
  if ((a.mask & b.mask) == 0 && error < INFINITY) error = 0;  // a sum of zeros
  const int scales = a.scale + b.scale;
  const double sum = LIMB_COUNT == 2 ? fma(d[1], 0x1p32, d[0])
                                     : fma(fma(d[LIMB_COUNT - 1], 0x1p27, d[1]), 0x1p27, d[0]);
  if (plain) {
    const ulong bits = as_ulong(sum);
    const int exponent = (int)(bits >> 52 & 2047) - 1023;
    *result = (float)as_double(bits - ((ulong)(long)scales << 52));
    // In units of sum's last place; sum itself is off by less than 4.
    const float off = error * as_float((uint)(127 + 52 - exponent) << 23);
    const float far = fabsf((float)((int)(bits & 0x1fffffff) - 0x10000000));
    if (far > fmaf(off, 1.0001f, 4.0f) && off < 1e8f && exponent - scales >= -126 &&
        exponent - scales <= 127 && exponent >= -20)
      return true;
  }
  return round_limbs<LIMB_COUNT>(d[0], d[1], d[LIMB_COUNT - 1], sum,
                                 power_of_two(-a.scale) * power_of_two(-b.scale), error, plain,
                                 scaling, c, result);
}
