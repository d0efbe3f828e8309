// The Euclidean norm: the root of the exact sum of squares, scaled where that leaves f64's range.
#include <trine/host.hpp>

#include <cfloat>
#include <cmath>

#include "backends/kit/float_environment.hpp"
#include "core/src/runtime/error.hpp"

namespace trine {
namespace {

double squares_of(const ConstHostView& x, const HostOptions& options) {
  double sum = 0;
  reduce(Function::sum, Map::square, Axis::all, x, host_vector(&sum, Dtype::f64, 1), options);
  return sum;
}

/// The elements of an f64 view, times 2^-exponent.
std::vector<double> scaled(const ConstHostView& x, int exponent) {
  std::vector<double> values;
  values.reserve(static_cast<size_t>(x.rows * x.cols));
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.cols; ++j)
      values.push_back(std::ldexp(
          static_cast<const double*>(x.data)[i * x.row_stride + j * x.col_stride], -exponent));
  return values;
}

}  // namespace

double norm(const ConstHostView& x, const HostOptions& options) {
  return detail::entry([&]() -> double {
    detail::refuse_event(options);
    const kit::FloatEnvironment environment;  // the caller's rounding must not show
    const double squares = squares_of(x, options);
    if (x.dtype == Dtype::f32) return static_cast<float>(std::sqrt(squares));
    // Below 2^-900 the sum may have lost bits of denormal squares.
    if ((squares > 0x1p-900 && squares <= DBL_MAX) || squares != squares) return std::sqrt(squares);
    double largest = 0;
    reduce(Function::max, Map::abs, Axis::all, x, host_vector(&largest, Dtype::f64, 1), options);
    if (!(largest > 0 && largest <= DBL_MAX)) return std::max(largest, 0.0);  // of nothing: -Inf
    const int exponent = std::ilogb(largest);
    const std::vector<double> values = scaled(x, exponent);
    const auto count = static_cast<int64_t>(values.size());
    return std::ldexp(std::sqrt(squares_of(host_vector(values.data(), Dtype::f64, count), options)),
                      exponent);
  });
}

}  // namespace trine
