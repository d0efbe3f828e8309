// Rooflines, phases and timelines (figures.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "bench/ui/table.hpp"
#include "figures.hpp"

namespace trine::bench::report {
namespace {

std::string text(const ordered_json& object, const char* key) {
  const ordered_json value = object.value(key, ordered_json());
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

double number(const ordered_json& object, const char* key) {
  const ordered_json value = object.value(key, ordered_json());
  return value.is_number() ? value.get<double>() : 0;
}

/// Phases and lanes have one colour each: copies in, kernels, copies out.
constexpr int kInSlot = 4, kKernelSlot = 1, kOutSlot = 2, kWholeSlot = 5, kOtherSlot = 7;

int lane_slot(const std::string& lane) {
  if (lane == "copy in") return kInSlot;
  if (lane == "kernel") return kKernelSlot;
  return lane == "copy out" ? kOutSlot : kOtherSlot;
}

/// What bounds a device: bytes and flops a second, 0 where unknown.
struct Bounds {
  double bandwidth = 0, flops = 0;
};

/// Measured in the run: the roofs of `trine roof`, else those that stand beside the results.
Bounds measured(const Document& document, size_t host, const std::string& device,
                const std::string& dtype) {
  Bounds bounds;
  for (const Extra& extra : document.roofs) {
    const ordered_json& r = extra.value;
    if (extra.host != host || text(r, "device") != device) continue;
    const std::string what = text(r, "what"), of = text(r, "dtype");
    if (what == "read" || what == "copy" || what == "write")
      bounds.bandwidth = std::max(bounds.bandwidth, number(r, "value"));
    if ((what == "fma" || what == "tensor") && of == dtype)
      bounds.flops = std::max(bounds.flops, number(r, "value"));
  }
  // Of memory, the roof beside the largest case: smaller ones lie in caches.
  const bool known = bounds.bandwidth > 0;
  double largest = 0;
  for (const Entry& e : document.results) {
    if (e.host != host || e.device != device || !e.verified) continue;
    if (e.roof.unit == "B/s" && !known && e.bytes() > largest) {
      largest = e.bytes();
      bounds.bandwidth = e.roof.value;
    }
    if (e.roof.unit == "flop/s" && e.dtype == dtype)
      bounds.flops = std::max(bounds.flops, e.roof.value);
  }
  return bounds;
}

/// The data sheet's.
Bounds nominal(const Document& document, size_t host, const std::string& device,
               const std::string& dtype) {
  const ordered_json& devices = document.hosts[host].devices;
  Bounds bounds{nominal_bandwidth(devices, device), nominal_flops(devices, device, dtype)};
  for (const Extra& extra : document.roofs) {
    const ordered_json& r = extra.value;
    if (extra.host != host || text(r, "device") != device) continue;
    const bool flops = text(r, "unit") == "flop/s";
    if (flops && text(r, "dtype") != dtype) continue;
    if (!flops && text(r, "what") != "read" && text(r, "what") != "copy") continue;
    double& bound = flops ? bounds.flops : bounds.bandwidth;
    bound = std::max(bound, number(r, "nominal"));
  }
  return bounds;
}

/// The roof from `left` to `right` flop/byte: rising, then level.
Series roof_line(const std::string& label, int slot, const Bounds& bounds, double left,
                 double right) {
  Series series{.label = label, .slot = slot, .points = false};
  if (bounds.bandwidth <= 0) return series;
  const double ridge = bounds.flops / bounds.bandwidth;
  const auto at = [&](double x) {
    const double y =
        bounds.flops > 0 ? std::min(bounds.flops, x * bounds.bandwidth) : x * bounds.bandwidth;
    series.data.push_back({x, y});
  };
  at(left);
  if (ridge > left && ridge < right) at(ridge);
  at(right);
  return series;
}

/// The rungs of a device with their arithmetic intensity, each at its largest size and fastest there.
Series rung_points(const Document& document, const std::vector<Group>& groups, size_t host,
                   const std::string& device, const std::string& dtype, int slot) {
  Series series{.label = document.device(host, device), .slot = slot, .line = false};
  std::map<std::string, const Entry*> fastest;
  for (const Group& group : groups)
    for (const Row& row : group.rows) {
      const Entry* e = row.single;
      if (!e || !row.good() || e->host != host || e->device != device || e->dtype != dtype ||
          e->flops() <= 0)
        continue;
      const Entry*& best = fastest[group.title + " " + e->rung];
      const auto key = [](const Entry& of) { return std::pair(of.bytes(), of.rate.value); };
      if (best == nullptr || key(*e) > key(*best)) best = e;
    }
  for (const auto& [name, found] : fastest) {
    const Entry& e = *found;
    const double intensity = e.flops() / e.bytes();
    series.data.push_back({intensity,
                           e.rate.unit == "B/s" ? e.rate.value * intensity : e.rate.value,
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

std::vector<std::string> devices_of(const Document& document, size_t host) {
  std::vector<std::string> names;
  for (const Entry& e : document.results)
    if (e.host == host && std::find(names.begin(), names.end(), e.device) == names.end())
      names.push_back(e.device);
  return names;
}

void add_roof(Figure& figure, Series series) {
  if (!series.data.empty()) figure.series.push_back(std::move(series));
}

Figure roofline(const Document& document, const std::vector<Group>& groups, size_t host,
                const std::string& dtype, Palette& palette) {
  const std::string& label = document.hosts[host].label;
  Figure figure{
      .title = fmt::format("Roofline, {}{}", dtype, label.empty() ? "" : ", host " + label),
      .note =
          "Solid: roofs measured in the run. Dashed: the data sheet's. Each point is a "
          "rung at its largest size, a single launch, at the least bytes it must move.",
      .x = {"arithmetic intensity", "flop/B", Scale::log},
      .y = {"performance", "flop/s", Scale::log}};
  double left = 0.1, right = 10;
  std::vector<Series> points;
  for (const std::string& device : devices_of(document, host)) {
    points.push_back(rung_points(document, groups, host, device, dtype,
                                 palette.devices.of(document.device(host, device))));
    for (const Point& p : points.back().data) {
      left = std::min(left, p.x / 2);
      right = std::max(right, p.x * 2);
    }
  }
  for (const Series& of : points) {
    if (of.data.empty()) continue;
    const std::string device = label.empty() ? of.label : of.label.substr(label.size() + 1);
    add_roof(figure, roof_line(of.label + ", measured", of.slot,
                               measured(document, host, device, dtype), left, right));
    Series sheet = roof_line(of.label + ", nominal", of.slot,
                             nominal(document, host, device, dtype), left, right);
    sheet.dashed = true;
    add_roof(figure, std::move(sheet));
    figure.series.push_back(of);
  }
  return figure;
}

}  // namespace

std::vector<Figure> rooflines(const Document& document, const std::vector<Group>& groups,
                              Palette& palette) {
  std::vector<Figure> figures;
  for (size_t host = 0; host < document.hosts.size(); ++host)
    for (const char* dtype : {"f32", "f64", "i32"}) {
      Figure figure = roofline(document, groups, host, dtype, palette);
      if (!figure.series.empty()) figures.push_back(std::move(figure));
    }
  return figures;
}

std::vector<Figure> phases(const Document& document, const Group& group) {
  std::map<double, std::vector<const Entry*>> by_size;
  for (const Row& row : group.rows)
    for (const Entry* e : row.whole)
      if (e->verified && e->total && *e->total > 0) by_size[group.x(*e)].push_back(e);
  if (by_size.empty()) return {};
  // The largest of the sizes with the most bars.
  const auto most =
      std::max_element(by_size.begin(), by_size.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second.size(), a.first) < std::pair(b.second.size(), b.first);
      });
  const std::vector<const Entry*>& bars = most->second;
  Figure figure{
      .kind = Figure::Kind::stack,
      .title = fmt::format("{}, the whole program at {}", group.title, bars.front()->size()),
      .note =
          "Medians of the phases, each measured for itself. “Whole” is a pass whose phases "
          "overlap or don't exist apart.",
      .x = {"device and host memory", "", Scale::names, {}},
      .y = {"time", "s", Scale::linear}};
  const std::tuple<const char*, int, std::optional<double> Entry::*> kinds[] = {
      {"alloc", kOtherSlot, &Entry::alloc},
      {"host→dev", kInSlot, &Entry::h2d},
      {"kernel", kKernelSlot, &Entry::kernel},
      {"dev→host", kOutSlot, &Entry::d2h}};
  for (const auto& [name, slot, member] : kinds) {
    Series series{.label = name, .slot = slot};
    for (size_t i = 0; i < bars.size(); ++i)
      if (const auto& seconds = bars[i]->*member; seconds && bars[i]->in_phases())
        series.data.push_back({double(i), *seconds});
    figure.series.push_back(std::move(series));
  }
  Series whole{.label = "whole", .slot = kWholeSlot};
  for (size_t i = 0; i < bars.size(); ++i) {
    const Entry& e = *bars[i];
    figure.x.names.push_back(document.device(e.host, e.device) + " " + e.memory);
    if (!e.in_phases()) whole.data.push_back({double(i), *e.total});
  }
  figure.series.push_back(std::move(whole));
  std::erase_if(figure.series, [](const Series& s) { return s.data.empty(); });
  return {figure};
}

std::vector<Figure> timelines(const Document& document) {
  std::vector<Figure> figures;
  for (const Extra& extra : document.timelines) {
    const ordered_json& t = extra.value;
    Figure figure{
        .kind = Figure::Kind::spans,
        .title = fmt::format("{} {} {} on {}, {}", text(t, "operation"), text(t, "dtype"),
                             size_text(text(t, "operation"), shape_of(t)),
                             document.device(extra.host, text(t, "device")), text(t, "memory")),
        .note = overlap_note(t),
        .x = {"time", "s", Scale::linear},
        .y = {"lane", "", Scale::names, {}}};
    for (const ordered_json& span : t.value("spans", ordered_json::array())) {
      const std::string lane = text(span, "lane");
      auto& names = figure.y.names;
      auto found = std::find(names.begin(), names.end(), lane);
      if (found == names.end()) {
        found = names.insert(names.end(), lane);
        figure.series.push_back({.label = lane, .slot = lane_slot(lane)});
      }
      figure.spans.push_back({int(found - names.begin()), int(number(span, "index")),
                              number(span, "begin"), number(span, "end")});
    }
    if (!figure.spans.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace trine::bench::report
