#include "grid.hpp"

#include <algorithm>
#include <cmath>

namespace trine::detail {

Grid::Grid(const Extents& extents) : strides_(extents.size(), 1) {
  std::size_t count = 1;
  for (std::size_t d = extents.size(); d-- > 0;) {
    strides_[d] = count;
    count *= extents[d].size();
  }
  for (const std::vector<double>& axis : extents) {
    axes_.emplace_back();
    for (const double extent : axis) axes_.back().push_back(std::log(extent));
  }
  points_.resize(count);
}

std::vector<double> Grid::extents(std::size_t point) const {
  std::vector<double> values;
  for (std::size_t d = 0; d < axes_.size(); ++d)
    values.push_back(std::round(std::exp(axes_[d][point / strides_[d] % axes_[d].size()])));
  return values;
}

std::size_t Grid::below(std::size_t point, std::size_t dimension) const {
  const std::size_t at = point / strides_[dimension] % axes_[dimension].size();
  return at == 0 ? size() : point - strides_[dimension];
}

void Grid::set(std::size_t point, const Estimate& measured) {
  const double log = std::log(measured.seconds);
  points_[point] = {log, log - std::log(measured.low), std::log(measured.high) - log, true};
}

Estimate Grid::estimate(const Point& point) {
  return {std::exp(point.log), std::exp(point.log - point.below),
          std::exp(point.log + point.above)};
}

/// The slope of the time over the extent, both in logarithms, from the point below on: between 0
/// and 1 (linear), and 1 if nothing is known.
double Grid::slope_below(std::size_t point, std::size_t dimension) const {
  const std::size_t before = below(point, dimension);
  if (before == size()) return 1;
  const std::vector<double>& axis = axes_[dimension];
  const std::size_t at = point / strides_[dimension] % axis.size();
  return std::clamp((points_[point].log - points_[before].log) / (axis[at] - axis[at - 1]), 0.0,
                    1.0);
}

/// The largest of the times that the points below predict, each by its own slope.
void Grid::fill(std::size_t point) {
  Point filled;
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    const std::size_t before = below(point, d);
    if (before == size()) continue;
    const std::size_t at = point / strides_[d] % axes_[d].size();
    const double log =
        points_[before].log + slope_below(before, d) * (axes_[d][at] - axes_[d][at - 1]);
    if (filled.known && log <= filled.log) continue;
    filled = points_[before];
    filled.log = log;
  }
  points_[point] = filled;
}

/// The mean of the largest time at or below a point and the smallest at or above it. Both grow with
/// every extent, and times that do so already don't change.
void Grid::make_monotone() {
  std::vector<double> rising(size()), falling(size());
  for (std::size_t i = 0; i < size(); ++i) {
    rising[i] = points_[i].log;
    for (std::size_t d = 0; d < axes_.size(); ++d)
      if (below(i, d) != size()) rising[i] = std::max(rising[i], rising[below(i, d)]);
  }
  for (std::size_t i = 0; i < size(); ++i) falling[i] = points_[i].log;
  for (std::size_t i = size(); i-- > 0;)
    for (std::size_t d = 0; d < axes_.size(); ++d)
      if (const std::size_t next = below(i, d); next != size())
        falling[next] = std::min(falling[next], falling[i]);
  for (std::size_t i = 0; i < size(); ++i) points_[i].log = (rising[i] + falling[i]) / 2;
}

bool Grid::complete() {
  if (points_.empty() || !points_[0].known) return false;
  for (std::size_t i = 1; i < size(); ++i)
    if (!points_[i].known) fill(i);
  make_monotone();
  find_slopes();
  return true;
}

/// One slope for the whole end of an axis: if it changed along the end, times could shrink there.
void Grid::find_slopes() {
  slopes_.assign(axes_.size(), 0);
  for (std::size_t i = 0; i < size(); ++i)
    for (std::size_t d = 0; d < axes_.size(); ++d)
      if (i / strides_[d] % axes_[d].size() + 1 == axes_[d].size())
        slopes_[d] = std::max(slopes_[d], slope_below(i, d));
}

/// The time at logarithms of extents that lie within the grid.
Grid::Point Grid::interpolate(const std::vector<double>& logs) const {
  std::vector<std::size_t> corner(axes_.size());
  std::vector<double> share(axes_.size());
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    const std::vector<double>& axis = axes_[d];
    if (axis.size() == 1) continue;
    const auto next = std::upper_bound(axis.begin() + 1, axis.end() - 1, logs[d]);
    corner[d] = static_cast<std::size_t>(next - axis.begin()) - 1;
    share[d] = (logs[d] - axis[corner[d]]) / (*next - axis[corner[d]]);
  }
  Point sum;
  for (std::size_t mask = 0; mask < std::size_t{1} << axes_.size(); ++mask) {
    double weight = 1;
    std::size_t index = 0;
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      const bool upper = (mask >> d & 1) != 0;
      weight *= upper ? share[d] : 1 - share[d];
      index += (corner[d] + (upper && share[d] > 0 ? 1 : 0)) * strides_[d];
    }
    sum.log += weight * points_[index].log;
    sum.below += weight * points_[index].below;
    sum.above += weight * points_[index].above;
  }
  return sum;
}

Estimate Grid::at(const double* extents) const {
  std::vector<double> inside(axes_.size());
  double beyond = 0;
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    const double log = std::log(std::max(extents[d], 1.0));
    inside[d] = std::clamp(log, axes_[d].front(), axes_[d].back());
    beyond += slopes_[d] * std::max(0.0, log - inside[d]);
  }
  Point found = interpolate(inside);
  found.log += beyond;
  return estimate(found);
}

}  // namespace trine::detail
