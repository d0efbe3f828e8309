// The Euclidean norm: the root of the exact sum of squares.
#include <trine/host.hpp>

#include <cmath>

#include "backends/kit/float_environment.hpp"
#include "backends/kit/root_of_squares.hpp"
#include "core/src/runtime/error.hpp"

namespace trine {
namespace {

double squares_of(const ConstHostView& x, const HostOptions& options) {
  double sum = 0;
  reduce(Function::sum, Map::square, Axis::all, x, host_vector(&sum, Dtype::f64, 1), options);
  return sum;
}

/// The elements of an f64 view, times 2^exponent.
std::vector<double> scaled(const ConstHostView& x, int exponent) {
  std::vector<double> values;
  values.reserve(static_cast<size_t>(x.rows * x.cols));
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.cols; ++j)
      values.push_back(std::ldexp(
          static_cast<const double*>(x.data)[i * x.row_stride + j * x.col_stride], exponent));
  return values;
}

}  // namespace

double norm(const ConstHostView& x, const HostOptions& options) {
  return detail::entry([&]() -> double {
    detail::refuse_event(options);
    const kit::FloatEnvironment environment;  // the caller's rounding must not show
    if (x.dtype == Dtype::f32) return static_cast<float>(std::sqrt(squares_of(x, options)));
    return kit::root_of_squares([&](int exponent) {
      if (exponent == 0) return squares_of(x, options);
      const std::vector<double> values = scaled(x, exponent);
      return squares_of(host_vector(values.data(), Dtype::f64, static_cast<int64_t>(values.size())),
                        options);
    });
  });
}

}  // namespace trine
