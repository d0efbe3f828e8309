// Rooflines, phases and timelines (report.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "bench/timing/roofline.hpp"
#include "bench/ui/table.hpp"
#include "report.hpp"

namespace trine::bench::report {
namespace {

double number(const ordered_json& object, const char* key) {
  return number_of(object, key).value_or(0);
}

/// Phases and lanes have one colour each: copies in, kernels, copies out.
constexpr int kInSlot = 4, kKernelSlot = 1, kOutSlot = 2, kTotalSlot = 5, kOtherSlot = 7;

int lane_slot(const std::string& lane) {
  if (lane == "copy in") return kInSlot;
  if (lane == "kernel") return kKernelSlot;
  return lane == "copy out" ? kOutSlot : kOtherSlot;
}

/// Measured in the run: the roofs of `trine roof`, else those that stand beside the results.
Ceilings measured(const Runs& runs, const std::string& device, const std::string& dtype) {
  Ceilings bounds;
  for (const Extra& extra : runs.roofs) {
    const ordered_json& r = extra.value;
    if (extra.device != device) continue;
    const std::string what = text_of(r, "what"), of = text_of(r, "dtype");
    if (what == "read" || what == "copy" || what == "write")
      bounds.bandwidth = std::max(bounds.bandwidth, number(r, "value"));
    if ((what == "fma" || what == "tensor") && of == dtype)
      bounds.arithmetic = std::max(bounds.arithmetic, number(r, "value"));
  }
  // Of memory, the roof beside the largest case: smaller ones lie in caches.
  const bool known = bounds.bandwidth > 0;
  double largest = 0;
  for (const Entry& e : runs.results) {
    if (e.device_name != device || !e.verified) continue;
    if (e.roof.unit == "B/s" && !known && e.bytes() > largest) {
      largest = e.bytes();
      bounds.bandwidth = e.roof.value;
    }
    if (e.roof.unit == "flop/s" && name(e.problem.dtype) == dtype)
      bounds.arithmetic = std::max(bounds.arithmetic, e.roof.value);
  }
  return bounds;
}

/// The data sheet's.
Ceilings nominal(const Runs& runs, const Entry& any, const std::string& dtype) {
  const Host& host = runs.hosts[any.host];
  Ceilings bounds{host.peak_bandwidth(any.device), host.peak_flops(any.device, dtype)};
  for (const Extra& extra : runs.roofs) {
    const ordered_json& r = extra.value;
    if (extra.device != any.device_name) continue;
    const bool flops = text_of(r, "unit") == "flop/s";
    if (flops && text_of(r, "dtype") != dtype) continue;
    if (!flops && text_of(r, "what") != "read" && text_of(r, "what") != "copy") continue;
    double& bound = flops ? bounds.arithmetic : bounds.bandwidth;
    bound = std::max(bound, number(r, "nominal"));
  }
  return bounds;
}

/// The roof from `left` to `right` flop/byte: rising, then level.
Series roof_line(const std::string& label, int slot, const Ceilings& bounds, double left,
                 double right) {
  Series series{.label = label, .slot = slot, .points = false};
  if (bounds.bandwidth <= 0) return series;
  const double ridge = bounds.ridge();
  const auto at = [&](double x) {
    const double y = bounds.arithmetic > 0 ? std::min(bounds.arithmetic, x * bounds.bandwidth)
                                           : x * bounds.bandwidth;
    series.data.push_back({x, y});
  };
  at(left);
  if (ridge > left && ridge < right) at(ridge);
  at(right);
  return series;
}

/// The rungs of a device with their arithmetic intensity, each at its largest size and fastest there.
Series rung_points(const std::vector<Group>& groups, const Entry& any, const std::string& dtype) {
  Series series{.label = any.device_name, .slot = any.device_slot, .line = false};
  std::map<std::string, const Entry*> fastest;
  for (const Group& group : groups)
    for (const Row& row : group.rows) {
      const Entry* e = row.single;
      if (!e || !row.good() || e->device_slot != any.device_slot ||
          name(e->problem.dtype) != dtype || e->flops() <= 0)
        continue;
      const Entry*& best = fastest[group.title + " " + e->rung_name];
      const auto key = [](const Entry& of) { return std::pair(of.bytes(), of.rate); };
      if (best == nullptr || key(*e) > key(*best)) best = e;
    }
  for (const auto& [name, found] : fastest) {
    const Entry& e = *found;
    const double intensity = e.flops() / e.bytes();
    series.data.push_back({intensity,
                           e.problem.operation != Operation::gemm ? e.rate * intensity : e.rate,
                           e.variant(), fmt::format("{}, {}", e.group(), e.size())});
  }
  return series;
}

/// What the overlap brought. With the cpu on a part of the rows the lanes carry less, and what they take
/// for all rows is no bound: then the gain.
std::string overlap_note(const ordered_json& timeline) {
  const std::string seconds = time_text(number(timeline, "seconds"));
  if (timeline.contains("share"))
    return fmt::format("{}; the slower of link and kernel takes {:.0f} % of that alone.", seconds,
                       100 * number(timeline, "share"));
  if (!timeline.contains("gain")) return seconds + "; the cpu computes a part of the rows.";
  return fmt::format("{}; with the cpu on {:.2g} % of the rows it is {} as fast as without.",
                     seconds, 100 * number(timeline, "cpu_rows"),
                     ratio_text(number(timeline, "gain")));
}

Figure roofline(const Runs& runs, const std::vector<Group>& groups, size_t host,
                const std::string& dtype) {
  const std::string& label = runs.hosts[host].label;
  Figure figure{
      .title = fmt::format("Roofline, {}{}", dtype, label.empty() ? "" : ", host " + label),
      .note =
          "Solid: roofs measured in the run. Dashed: the data sheet's. Each point is a "
          "rung at its largest size, a single launch, at the least bytes it must move.",
      .x = {"arithmetic intensity", "flop/B", Scale::log},
      .y = {"performance", "flop/s", Scale::log}};
  std::map<int, const Entry*> devices;  // any result of each
  for (const Entry& e : runs.results)
    if (e.host == host) devices.emplace(e.device_slot, &e);
  double left = 0.1, right = 10;
  std::vector<std::pair<const Entry*, Series>> points;
  for (const auto& [slot, any] : devices) {
    points.emplace_back(any, rung_points(groups, *any, dtype));
    for (const Point& p : points.back().second.data) {
      left = std::min(left, p.x / 2);
      right = std::max(right, p.x * 2);
    }
  }
  for (auto& [any, of] : points) {
    if (of.data.empty()) continue;
    add_if_any(figure, roof_line(of.label + ", measured", of.slot, measured(runs, of.label, dtype),
                                 left, right));
    Series sheet =
        roof_line(of.label + ", nominal", of.slot, nominal(runs, *any, dtype), left, right);
    sheet.dashed = true;
    add_if_any(figure, std::move(sheet));
    figure.series.push_back(std::move(of));
  }
  return figure;
}

}  // namespace

std::vector<Figure> rooflines(const Runs& runs, const std::vector<Group>& groups) {
  std::vector<Figure> figures;
  for (size_t host = 0; host < runs.hosts.size(); ++host)
    for (const char* dtype : {"f32", "f64", "i32"}) {
      Figure figure = roofline(runs, groups, host, dtype);
      if (!figure.series.empty()) figures.push_back(std::move(figure));
    }
  return figures;
}

std::vector<Figure> phases(const Group& group) {
  std::map<double, std::vector<const Entry*>> by_size;
  for (const Row& row : group.rows)
    for (const Entry* e : row.end_to_end)
      if (e->verified && e->total && *e->total > 0) by_size[row.x].push_back(e);
  if (by_size.empty()) return {};
  // The largest of the sizes with the most bars.
  const auto most = std::ranges::max_element(
      by_size, {}, [](const auto& size) { return std::pair(size.second.size(), size.first); });
  const std::vector<const Entry*>& bars = most->second;
  Figure figure{
      .kind = Figure::Kind::stack,
      .title = fmt::format("{}, end to end at {}", group.title, bars.front()->size()),
      .note =
          "Medians of the phases, each measured for itself. “Total” is a pass whose phases "
          "overlap or don't exist apart.",
      .x = {"device and host memory", "", Scale::names, {}},
      .y = {"time", "s", Scale::linear}};
  const std::tuple<const char*, int, std::optional<double> Entry::*> kinds[] = {
      {"alloc", kOtherSlot, &Entry::alloc},
      {"host→dev", kInSlot, &Entry::h2d},
      {"kernel", kKernelSlot, &Entry::kernel},
      {"dev→host", kOutSlot, &Entry::d2h},
      {"total", kTotalSlot, &Entry::total}};
  for (const auto& [name, slot, member] : kinds) {
    Series series{.label = name, .slot = slot};
    for (size_t i = 0; i < bars.size(); ++i)
      if (bars[i]->*member && bars[i]->in_phases() == (slot != kTotalSlot))
        series.data.push_back({double(i), *(bars[i]->*member)});
    add_if_any(figure, std::move(series));
  }
  for (const Entry* e : bars) figure.x.names.push_back(e->device_name + " " + e->memory);
  return {figure};
}

std::vector<Figure> timelines(const Runs& runs) {
  std::vector<Figure> figures;
  for (const Extra& extra : runs.timelines) {
    const ordered_json& t = extra.value;
    Figure figure{
        .kind = Figure::Kind::spans,
        .title = fmt::format("{} {} {} on {}, {}", text_of(t, "operation"), text_of(t, "dtype"),
                             timeline_size(t), extra.device, text_of(t, "memory")),
        .note = overlap_note(t),
        .x = {"time", "s", Scale::linear},
        .y = {"lane", "", Scale::names, {}}};
    for (const ordered_json& span : t.value("spans", ordered_json::array())) {
      const std::string lane = text_of(span, "lane");
      const int place = place_of(figure.y.names, lane);
      if (figure.series.size() < figure.y.names.size())
        figure.series.push_back({.label = lane, .slot = lane_slot(lane)});
      figure.spans.push_back(
          {place, int(number(span, "index")), number(span, "begin"), number(span, "end")});
    }
    if (!figure.spans.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace trine::bench::report
