#include "figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace trine::bench::report {
namespace {

bool worth_drawing(const Figure& figure) {
  return std::ranges::any_of(figure.series, [](const Series& s) { return s.data.size() > 1; });
}

/// Marks the break-even points of resident data between devices whose curves the picture has, and says so.
void mark_break_evens(const Runs& runs, const Group& group, Figure& figure) {
  const auto drawn = [&](const std::string& device) {
    return std::ranges::any_of(figure.series,
                               [&](const Series& series) { return series.label == device; });
  };
  for (const Extra* extra : break_evens(runs, group, "resident")) {
    const ordered_json& c = extra->value;
    const std::optional<double> at = number_of(c, "size");
    const std::string from = runs.device(extra->host, text_of(c, "from"));
    const std::string to = runs.device(extra->host, text_of(c, "to"));
    if (!at || !drawn(from) || !drawn(to)) continue;
    const Mark mark{.at = *at, .low = number_of(c, "low"), .high = number_of(c, "high")};
    figure.note += fmt::format("{} {} is faster than {} from {}",
                               figure.marks.empty() ? " Submit to wait, as calibrated:" : "", to,
                               from, count_text(mark.at));
    figure.note += mark.low && mark.high
                       ? fmt::format(" ({} to {}).", count_text(*mark.low), count_text(*mark.high))
                       : ".";
    figure.marks.push_back(mark);
  }
}

/// Bars down the ladder, from a common zero, at the size that most rungs have.
Figure ladder_bars(Figure figure, const Group& group, const std::string& device, int slot,
                   const Filter& here) {
  std::map<double, size_t> rungs;
  for (const Series& series : figure.series)
    for (const Point& p : series.data) ++rungs[p.x];
  const auto most = std::ranges::max_element(rungs, [](const auto& a, const auto& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  });
  const auto of_size = [&](const Row& r) { return here(r) && group.x(r.any()) == most->first; };
  const Method method = common_method(group.rows, of_size);
  Series bars{.label = device, .slot = slot};
  figure.title += ", " + size_text(group, most->first);
  figure.x = {"rung", "", Scale::names, {}};
  for (const Series& series : figure.series)
    if (const Entry* e = best(group, method, [&](const Row& r) {
          return of_size(r) && r.any().rung_name == series.label;
        })) {
      bars.data.push_back({double(figure.x.names.size()), e->rate, e->variant()});
      figure.x.names.push_back(series.label);
    }
  figure.kind = Figure::Kind::bars;
  figure.y = rate_axis(group, method, Scale::linear);
  figure.series = {bars};
  return figure;
}

}  // namespace

std::string device_of(const Runs& runs, const Row& row) {
  return runs.device(row.any().host, row.any().device);
}

Axis size_axis(const Group& group) { return {group.axis_title(), "", Scale::log2}; }

Axis rate_axis(const Group& group, Method method, Scale scale) {
  const char* what = group.unit == "B/s" ? "effective bandwidth" : "performance";
  return {fmt::format("{}, {}", what, name(method)), group.unit, scale};
}

Series envelope(const Group& group, Method method, const std::string& label, int slot,
                const Filter& wanted) {
  Series series{.label = label, .slot = slot};
  for (double size : sizes(group, wanted))
    if (const Entry* e = best(group, method,
                              [&](const Row& r) { return group.x(r.any()) == size && wanted(r); }))
      series.data.push_back({size, e->rate, e->variant()});
  return series;
}

void add_if_any(Figure& figure, Series series) {
  if (!series.data.empty()) figure.series.push_back(std::move(series));
}

std::vector<std::string> rungs_of(const Runs& runs, const Group& group, const std::string& device) {
  std::vector<const Entry*> all;
  for (const Row& row : group.rows)
    if (row.good() && device_of(runs, row) == device) all.push_back(&row.any());
  std::ranges::stable_sort(all, [](const Entry* a, const Entry* b) {
    return std::pair(a->vendor(), a->rung_index) < std::pair(b->vendor(), b->rung_index);
  });
  std::vector<std::string> names;
  for (const Entry* e : all) place_of(names, e->rung_name);
  return names;
}

std::string size_text(const Group& group, double size) {
  for (const Row& row : group.rows)
    if (group.x(row.any()) == size) return row.any().size();
  return fmt::format("{:g}", size);
}

std::vector<Figure> overview(const Runs& runs, const Group& group, Palette& palette) {
  const Method method = common_method(group.rows, [](const Row&) { return true; });
  Figure figure{.title = group.title + ", the devices",
                .note =
                    "The fastest rung of each device at each size, as a program gets it that "
                    "names none; peers dashed.",
                .x = size_axis(group),
                .y = rate_axis(group, method)};
  const bool any = std::ranges::any_of(group.rows, std::mem_fn(&Row::is_default));
  if (!any) figure.note = "The fastest rung of each device at each size; peers dashed.";
  for (const std::string& name : devices(runs, group)) {
    const int slot = place_of(palette.devices, name);
    const auto own = [&](const Row& r) {
      return device_of(runs, r) == name && (any ? r.is_default() : !r.any().vendor());
    };
    add_if_any(figure, envelope(group, method, name, slot, own));
    for (const std::string& rung : rungs_of(runs, group, name)) {
      Series peer =
          envelope(group, method, fmt::format("{} on {}", rung, name), slot, [&](const Row& r) {
            return device_of(runs, r) == name && r.any().vendor() && r.any().rung_name == rung;
          });
      peer.dashed = true;
      add_if_any(figure, std::move(peer));
    }
  }
  if (figure.series.empty()) return {};
  if (!worth_drawing(figure)) {
    // One size: a bar for each.
    Series bars{.label = group.title};
    for (const Series& series : figure.series) {
      bars.data.push_back({double(figure.x.names.size()), series.data[0].y, series.data[0].label});
      figure.x.names.push_back(series.label);
    }
    figure.title += ", " + size_text(group, figure.series[0].data[0].x);
    figure.kind = Figure::Kind::bars;
    figure.x.scale = Scale::names;
    figure.y.scale = Scale::linear;
    figure.series = {bars};
    return {figure};
  }
  mark_break_evens(runs, group, figure);
  return {figure};
}

std::vector<Figure> speedups(const Runs& runs, const Group& group, Palette& palette) {
  const Method method = common_method(group.rows, [](const Row&) { return true; });
  Figure figure{.title = group.title + ", speed-up over the peers",
                .note =
                    "Time of the peer over the time of the fastest own rung; above 1 ours is "
                    "faster.",
                .x = size_axis(group),
                .y = {fmt::format("speed-up, {}", name(method)), "×", Scale::log}};
  const std::vector<std::string> names = devices(runs, group);
  const auto is_cpu = [](const std::string& name) { return name.find("cpu") != std::string::npos; };
  for (const std::string& ours : names)
    for (const std::string& theirs : names) {
      if (theirs != ours && (!is_cpu(theirs) || is_cpu(ours))) continue;
      for (const std::string& rung : rungs_of(runs, group, theirs)) {
        Series series{
            .label = fmt::format("{} over {}{}", ours, rung, ours == theirs ? "" : " on " + theirs),
            .slot = place_of(palette.devices, ours),
            .dashed = ours != theirs};
        const auto at = [&](const std::string& device, double size, bool vendor) {
          return best(group, method, [&, size, vendor](const Row& r) {
            return device_of(runs, r) == device && group.x(r.any()) == size &&
                   r.any().vendor() == vendor && (!vendor || r.any().rung_name == rung);
          });
        };
        for (double size : sizes(group, [](const Row& r) { return r.good(); })) {
          const Entry *own = at(ours, size, false), *peer = at(theirs, size, true);
          if (!own || !peer || own->host != peer->host) continue;
          series.data.push_back({size, *peer->kernel / *own->kernel, own->variant()});
        }
        add_if_any(figure, std::move(series));
      }
    }
  if (!worth_drawing(figure)) return {};
  return {figure};
}

std::vector<Figure> ladder(const Runs& runs, const Group& group, const std::string& device,
                           Palette& palette) {
  const auto here = [&](const Row& r) { return r.good() && device_of(runs, r) == device; };
  const Method method = common_method(group.rows, here);
  const std::vector<std::string> rungs = rungs_of(runs, group, device);
  const auto fastest = [&](const std::string& rung) {
    return best(group, method, [&](const Row& r) { return here(r) && r.any().rung_name == rung; });
  };
  // One own rung and its peers are in the overview.
  if (std::ranges::count_if(rungs, [&](const std::string& rung) {
        return fastest(rung) && !fastest(rung)->vendor();
      }) < 2)
    return {};
  Figure figure{.title = fmt::format("{}, the ladder on {}", group.title, device),
                .note = "Each rung with its fastest parameters.",
                .x = size_axis(group),
                .y = rate_axis(group, method)};
  for (const std::string& rung : rungs) {
    Series series = envelope(group, method, rung, place_of(palette.rungs, rung),
                             [&](const Row& r) { return here(r) && r.any().rung_name == rung; });
    series.dashed = fastest(rung) && fastest(rung)->vendor();
    add_if_any(figure, std::move(series));
  }
  const auto swept = std::ranges::count_if(
      figure.series, [](const Series& series) { return series.data.size() > 1; });
  if (2 * swept > long(figure.series.size())) return {figure};
  return {ladder_bars(std::move(figure), group, device, place_of(palette.devices, device), here)};
}

}  // namespace trine::bench::report
