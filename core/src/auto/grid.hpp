// Seconds over a grid of extents: measured at its points, interpolated between them, extrapolated
// beyond. docs/decisions/calibration.md says why this and no more.
#pragma once

#include <cstddef>
#include <vector>

#include "core/src/operations/work.hpp"

namespace trine::detail {

/// A measured or predicted time with the interval in which its samples lay.
struct Estimate {
  double seconds = 0, low = 0, high = 0;
};

/// The logarithm of time is multilinear in the logarithms of the extents.
class Grid {
 public:
  explicit Grid(const Extents& extents);  ///< by dimension, ascending

  std::size_t size() const { return points_.size(); }
  std::size_t dimensions() const { return axes_.size(); }
  /// The extents of a point; the last dimension runs fastest.
  std::vector<double> extents(std::size_t point) const;
  /// The next point down along `dimension`, or size() at the edge.
  std::size_t below(std::size_t point, std::size_t dimension) const;

  void set(std::size_t point, const Estimate& measured);
  bool has(std::size_t point) const { return points_[point].known; }
  Estimate measured(std::size_t point) const { return estimate(points_[point]); }
  /// Computes the times that weren't measured from the points below, then makes times grow with
  /// every extent. False if nothing was measured at the first point: then the grid predicts
  /// nothing.
  bool complete();

  /// `extents` has a value for each dimension. Below the grid the time is that of its edge, the
  /// cost of a call. Above, it grows along each extent by the steepest last slope of the grid,
  /// between 0 and 1.
  Estimate at(const double* extents) const;

 private:
  struct Point {
    double log = 0;               ///< of the seconds
    double below = 0, above = 0;  ///< how much lower, higher the logs of the samples were
    bool known = false;
  };
  static Estimate estimate(const Point& point);
  Point interpolate(const std::vector<double>& logs) const;
  void fill(std::size_t point);
  void make_monotone();
  void find_slopes();
  double slope_below(std::size_t point, std::size_t dimension) const;

  std::vector<std::vector<double>> axes_;  ///< logarithms
  std::vector<std::size_t> strides_;
  std::vector<Point> points_;
  std::vector<double> slopes_;  ///< beyond the end of each axis
};

}  // namespace trine::detail
