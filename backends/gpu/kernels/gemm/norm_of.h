// How the bounds of an exact product (certain.h) come from elements and their squares.
#pragma once

// A power of two of which x, not 0, is a multiple, or less: the value of its last bit, but of a
// power of two itself only half of it or more. 0 of zeros.
DEVICE T unit_of(T x) {
#if T_float
  const uint bits = as_uint(x);
  return fabs(x) - fabs(as_float(bits & (bits - 1u)));
#else
  const ulong bits = as_ulong(x);
  return fabs(x) - fabs(as_double(bits & (bits - 1UL)));
#endif
}

// Squares of f64 may leave its range: a norm has a least value below which none falls, and where
// the sum is too large there is no bound.
DEVICE double norm_of(double squares) {
#if T_double
  if (!(squares <= 0x1p1000)) return as_double(0x7ff0000000000000UL);
  if (squares < 0x1p-904) squares = 0x1p-904;
#endif
  return sqrt(squares) * 0x1.00001p0;
}
