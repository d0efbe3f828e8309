// The root of an exact sum of squares, where that sum may leave f64's range.
#pragma once

#include <cmath>

namespace trine::kit {

/// `squares(exponent)` is the sum of (x 2^exponent)^2, rounded once. Where it is beyond 2^1000 or
/// below 2^-900, and may have overflowed or lost bits of denormals, x is scaled by a power of two.
/// Called in the default floating-point environment.
template <class Squares>
double root_of_squares(Squares squares) {
  const double sum = squares(0);
  if ((sum >= 0x1p-900 && sum <= 0x1p1000) || std::isnan(sum)) return std::sqrt(sum);
  const int exponent = sum > 1 ? -600 : 600;
  return std::ldexp(std::sqrt(squares(exponent)), -exponent);
}

}  // namespace trine::kit
