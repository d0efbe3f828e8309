#include "timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/timing/json.hpp"

namespace trine::bench {
namespace {

/// Clocks round, and the device's isn't the host's: by so much spans may be off.
double slack(const Timeline& timeline) { return 2e-6 + timeline.seconds / 100; }

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

std::string impossible(const Timeline& timeline) {
  const double off = slack(timeline);
  for (const Lane lane : kLanes) {
    double passed = 0;
    for (const Span& span : of_lane(timeline.spans, lane)) {
      if (span.end < span.begin)
        return fmt::format("chunk {} of '{}' ends before it begins", span.index, name(lane));
      if (span.begin < passed - off)
        return fmt::format("chunk {} of '{}' begins before the one in front of it has ended",
                           span.index, name(lane));
      passed = span.end;
    }
    if (passed > timeline.seconds + off)
      return fmt::format("'{}' goes on after the pass has ended", name(lane));
  }
  return {};
}

std::vector<std::string> picture(const Timeline& timeline, int width) {
  std::vector<std::string> lines;
  const double scale = timeline.seconds > 0 ? width / timeline.seconds : 0;
  for (const Lane lane : kLanes) {
    if (!uses(timeline.spans, lane)) continue;
    std::string line(size_t(width), ' ');
    for (const Span& span : of_lane(timeline.spans, lane)) {
      // A short span still shows.
      const int begin = std::clamp(int(span.begin * scale), 0, width - 1);
      const int end = std::clamp(int(std::lround(span.end * scale)), begin + 1, width);
      for (int i = begin; i < end; ++i) line[size_t(i)] = char('0' + span.index % 10);
    }
    lines.push_back(fmt::format("{:<8} |{}|", name(lane), line));
  }
  return lines;
}

nlohmann::ordered_json to_json(const Timeline& timeline) {
  nlohmann::ordered_json spans = nlohmann::ordered_json::array();
  for (const Span& span : timeline.spans)
    spans.push_back({{"lane", name(span.lane)},
                     {"index", span.index},
                     {"begin", span.begin},
                     {"end", span.end}});
  nlohmann::ordered_json json = {{"operation", name(timeline.problem.operation)},
                                 {"dtype", name(timeline.problem.dtype)},
                                 {"shape", shape_json(timeline.problem)},
                                 {"device", timeline.device},
                                 {"memory", timeline.memory},
                                 {"seconds", timeline.seconds},
                                 {"spans", spans}};
  if (timeline.share) json["share"] = *timeline.share;
  if (timeline.gain) json["gain"] = *timeline.gain, json["cpu_rows"] = timeline.cpu_rows;
  return json;
}

}  // namespace trine::bench
