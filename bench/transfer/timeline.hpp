// What overlapped with what: one span for each chunk in each lane of a call, and what follows from
// them: a picture in characters, the share of the slower of link and kernel, the JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/timing/host_run.hpp"

namespace trine::bench {

std::string_view name(Lane lane);  ///< "copy in", "kernel", "copy out", "cpu"

struct Timeline {
  Problem problem;
  std::string device, memory;
  double seconds = 0;  ///< by the host's clock, from the first copy to the result
  /// Of `seconds`, what the slowest lane would take alone; none where the cpu takes a part of the rows.
  std::optional<double> share = {};
  /// How much faster than without the cpu, where it takes a part.
  std::optional<double> gain = {};
  double cpu_rows = 0;  ///< that part, of all rows
  std::vector<Span> spans;
};

/// Seconds in which at least two lanes were busy at once.
double overlapped(const std::vector<Span>& spans);
/// Empty, or in words what no timeline can show: a span that ends before it begins, lies outside of
/// the pass, or overlaps another of its lane.
std::string impossible(const Timeline& timeline);

/// A line for each lane that was used, `width` columns long; a chunk is drawn as its number's last digit.
std::vector<std::string> picture(const Timeline& timeline, int width);

nlohmann::ordered_json to_json(const Timeline& timeline);

}  // namespace trine::bench
