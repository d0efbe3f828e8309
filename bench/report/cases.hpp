// The results, put together: what was measured of one rung on one problem is one row, rows that
// differ in size, device and rung alone are one group. Steps and best rows are found here, once, for
// every table and picture.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runs.hpp"

namespace trine::bench::report {

struct Row {
  const Entry* single = nullptr;         ///< resident, event to event
  const Entry* sustained = nullptr;      ///< resident, back to back
  std::vector<const Entry*> end_to_end;  ///< from and to host memory, by kind of it
  double x = 0;                          ///< its size along the group's axis
  /// Which of the two the rate, step and cumulative are of: the same for all rungs of a device and size.
  const Entry* Row::*method = &Row::single;
  /// How much faster than the rung before it, and than the first; none for the first, for vendors' and
  /// for what is not verified.
  std::optional<double> step, cumulative;

  const Entry& any() const {
    return single ? *single : sustained ? *sustained : *end_to_end.front();
  }
  const std::string& device() const { return any().device_name; }
  const std::string& rung() const { return any().rung_name; }
  /// What the rate is quoted of.
  const Entry& rated() const { return this->*method ? *(this->*method) : any(); }
  /// The kernel's figures count: measured, verified, positive.
  bool good() const;
  /// And a program that names no rung may get it.
  bool is_default() const { return good() && any().numerics == Numerics::reproducible; }
};

/// &Row::single or &Row::sustained: a picture or a comparison is of one of them.
using Method = const Entry* Row::*;
using Filter = std::function<bool(const Row&)>;

/// Launches back to back where each good row of those wanted has such a figure, else single ones.
Method common_method(std::span<const Row> rows, const Filter& wanted);
/// "single launches", "launches back to back".
const char* name(Method method);

struct Group {
  std::string title;  ///< "reduce sum f32"
  Operation operation = Operation::reduce;
  std::string dtype, unit;
  std::vector<Row> rows = {};             ///< by device, size, and in the order of the ladder
  std::vector<std::string> devices = {};  ///< of the rows, in their order

  std::string axis_title() const;  ///< what a size is, along an axis
  /// Whether it is of whole arrays as they lie, which is what a break-even is of.
  bool plain() const;
};

std::vector<Group> groups(const Runs& runs);

/// Of the `crossings` those of the group's calls on data in such memory on all hosts.
std::vector<const Extra*> break_evens(const Runs& runs, const Group& group,
                                      const std::string& memory);

/// The sizes of the rows that `wanted` accepts, ascending.
std::vector<double> sizes(const Group& group, const Filter& wanted);
/// The figure of the fastest good row of those wanted, by `method`; none where there is no such figure.
const Entry* best(const Group& group, Method method, const Filter& wanted);

}  // namespace trine::bench::report
