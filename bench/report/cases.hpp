// The results, put together: what was measured of one rung on one problem is one row, rows that
// differ in size, device and rung alone are one group. Steps and best rows are found here, once, for
// every table and picture.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "document.hpp"

namespace trine::bench::report {

struct Row {
  const Entry* single = nullptr;     ///< resident, event to event
  const Entry* sustained = nullptr;  ///< resident, back to back
  std::vector<const Entry*> whole;   ///< the whole program, by kind of memory
  /// How much faster than the rung before it, and than the first; none for the first, for vendors' and
  /// for what is not verified.
  std::optional<double> step, cumulative;

  const Entry& any() const { return single ? *single : sustained ? *sustained : *whole.front(); }
  /// What the rate is quoted of.
  const Entry& rated() const { return sustained ? *sustained : any(); }
  /// The kernel's figures count: measured, verified, positive.
  bool good() const;
  double rate() const { return rated().rate.value; }
};

struct Group {
  std::string title;  ///< "reduce sum f32"
  std::string operation, dtype, unit;
  std::vector<Row> rows;  ///< by host and device, size, and in the order of the ladder

  std::string axis_title() const;      ///< what a size is, along an axis
  double x(const Entry& entry) const;  ///< a size along that axis
};

std::vector<Group> groups(const Document& document);

/// "cpu" or "B cuda:0", in order of appearance.
std::vector<std::string> devices(const Document& document, const Group& group);
/// The sizes of the rows that `wanted` accepts, ascending.
std::vector<double> sizes(const Group& group, const std::function<bool(const Row&)>& wanted);
/// The fastest good row of those wanted, by rate; none where there is no good one.
const Row* best(const Group& group, const std::function<bool(const Row&)>& wanted);

/// The time of `other` over that of `row`: by launches back to back where both have them, else by
/// single launches.
std::optional<double> speedup(const Row& row, const Row& other);

}  // namespace trine::bench::report
