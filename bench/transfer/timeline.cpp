#include "timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trine::bench {
namespace {

/// Clocks round, and the device's isn't the host's: by so much spans may be off.
double slack(const Pass& pass) { return 2e-6 + pass.seconds / 100; }

std::vector<Span> of_lane(const std::vector<Span>& spans, Lane lane) {
  std::vector<Span> found;
  for (const Span& span : spans)
    if (span.lane == lane) found.push_back(span);
  std::ranges::sort(found, {}, &Span::begin);
  return found;
}

}  // namespace

std::string_view name(Lane lane) {
  switch (lane) {
    case Lane::copy_in: return "copy in";
    case Lane::kernel: return "kernel";
    case Lane::copy_out: return "copy out";
    default: return "cpu";
  }
}

double overlapped(const std::vector<Span>& spans) {
  std::vector<std::pair<double, int>> edges;
  for (const Span& span : spans) {
    edges.emplace_back(span.begin, +1);
    edges.emplace_back(span.end, -1);
  }
  std::ranges::sort(edges);
  double seconds = 0;
  int open = 0;
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    open += edges[i].second;
    if (open > 1) seconds += edges[i + 1].first - edges[i].first;
  }
  return seconds;
}

std::string impossible(const Pass& pass) {
  const double off = slack(pass);
  for (const Lane lane : kLanes) {
    double passed = 0;
    for (const Span& span : of_lane(pass.spans, lane)) {
      if (span.end < span.begin)
        return fmt::format("chunk {} of '{}' ends before it begins", span.index, name(lane));
      if (span.begin < passed - off)
        return fmt::format("chunk {} of '{}' begins before the one in front of it has ended",
                           span.index, name(lane));
      passed = span.end;
    }
    if (passed > pass.seconds + off)
      return fmt::format("'{}' goes on after the pass has ended", name(lane));
  }
  return {};
}

std::vector<std::string> picture(const Pass& pass, int width) {
  std::vector<std::string> lines;
  const double scale = pass.seconds > 0 ? width / pass.seconds : 0;
  for (const Lane lane : kLanes) {
    if (!uses(pass.spans, lane)) continue;
    std::string line(size_t(width), ' ');
    for (const Span& span : of_lane(pass.spans, lane)) {
      // A short span still shows.
      const int begin = std::clamp(int(span.begin * scale), 0, width - 1);
      const int end = std::clamp(int(std::lround(span.end * scale)), begin + 1, width);
      for (int i = begin; i < end; ++i) line[size_t(i)] = char('0' + span.index % 10);
    }
    lines.push_back(fmt::format("{:<8} |{}|", name(lane), line));
  }
  return lines;
}

}  // namespace trine::bench
