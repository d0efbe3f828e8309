// What overlapped with what: one span for each chunk in each lane of a call, and what follows from
// them, as a picture in characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/timing/host_run.hpp"

namespace trine::bench {

std::string_view name(Lane lane);  ///< "copy in", "kernel", "copy out", "cpu"

/// Seconds in which at least two lanes were busy at once.
double overlapped(const std::vector<Span>& spans);
/// Empty, or in words what no pass can show: a span that ends before it begins, lies outside of
/// the pass, or overlaps another of its lane.
std::string impossible(const Pass& pass);

/// A line for each lane that was used, `width` columns long; a chunk is drawn as its number's last digit.
std::vector<std::string> picture(const Pass& pass, int width);

}  // namespace trine::bench
