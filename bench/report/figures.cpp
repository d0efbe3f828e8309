#include "report.hpp"

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

/// In place of curves that have one size a bar each, from a common zero.
Figure as_bars(Figure figure, const Group& group, const Axis& names, Series bars) {
  figure.title += ", " + size_text(group, figure.series[0].data[0].x);
  figure.kind = Figure::Kind::bars;
  figure.x = names;
  figure.y.scale = Scale::linear;
  for (const Series& series : figure.series) {
    const Point& p = series.data[0];
    bars.data.push_back({double(figure.x.names.size()), p.y, p.label});
    figure.x.names.push_back(series.label);
  }
  figure.series = {bars};
  return figure;
}

/// The size that most of the curves have, of several such the largest.
double commonest_size(const Figure& figure) {
  std::map<double, size_t> curves;
  for (const Series& series : figure.series)
    for (const Point& p : series.data) ++curves[p.x];
  const auto most = std::ranges::max_element(
      curves, {}, [](const auto& size) { return std::pair(size.second, size.first); });
  return most->first;
}

/// A curve a rung.
Figure ladder_of(const Group& group, const std::string& device, const Filter& wanted) {
  const Method method = common_method(group.rows, wanted);
  Figure figure{.title = fmt::format("{}, the ladder on {}", group.title, device),
                .note = "Each rung with its fastest parameters.",
                .x = size_axis(group),
                .y = rate_axis(group, method)};
  for (const std::string& rung : rungs_of(group, device)) {
    const auto of_rung = [&](const Row& r) { return wanted(r) && r.rung() == rung; };
    Series series = envelope(group, method, rung, of_rung);
    if (const Entry* e = best(group, method, of_rung)) {
      series.slot = e->rung_slot;
      series.dashed = e->vendor();
    }
    add_if_any(figure, std::move(series));
  }
  return figure;
}

}  // namespace

Axis size_axis(const Group& group) { return {group.axis_title(), "", Scale::log2}; }

Axis rate_axis(const Group& group, Method method, Scale scale) {
  const char* what = group.unit == "B/s" ? "effective bandwidth" : "performance";
  return {fmt::format("{}, {}", what, name(method)), group.unit, scale};
}

Series envelope(const Group& group, Method method, const std::string& label, const Filter& wanted) {
  Series series{.label = label};
  for (double size : sizes(group, wanted))
    if (const Entry* e =
            best(group, method, [&](const Row& r) { return r.x == size && wanted(r); })) {
      series.slot = e->device_slot;
      series.data.push_back({size, e->rate, e->variant()});
    }
  return series;
}

void add_if_any(Figure& figure, Series series) {
  if (!series.data.empty()) figure.series.push_back(std::move(series));
}

std::vector<std::string> rungs_of(const Group& group, const std::string& device) {
  std::vector<const Entry*> all;
  for (const Row& row : group.rows)
    if (row.good() && row.device() == device) all.push_back(&row.any());
  std::ranges::stable_sort(all, {},
                           [](const Entry* e) { return std::pair(e->vendor(), e->rung_index); });
  std::vector<std::string> names;
  for (const Entry* e : all) place_of(names, e->rung_name);
  return names;
}

std::string size_text(const Group& group, double size) {
  const auto found = std::ranges::find(group.rows, size, &Row::x);
  return found == group.rows.end() ? fmt::format("{:g}", size) : found->any().size();
}

std::vector<Figure> overview(const Runs& runs, const Group& group) {
  const Method method = common_method(group.rows, [](const Row&) { return true; });
  Figure figure{.title = group.title + ", the devices",
                .note =
                    "The fastest rung of each device at each size, as a program gets it that "
                    "names none; peers dashed.",
                .x = size_axis(group),
                .y = rate_axis(group, method)};
  const bool any = std::ranges::any_of(group.rows, std::mem_fn(&Row::is_default));
  if (!any) figure.note = "The fastest rung of each device at each size; peers dashed.";
  for (const std::string& device : group.devices) {
    add_if_any(figure, envelope(group, method, device, [&](const Row& r) {
                 return r.device() == device && (any ? r.is_default() : !r.any().vendor());
               }));
    for (const std::string& rung : rungs_of(group, device)) {
      Series peer =
          envelope(group, method, fmt::format("{} on {}", rung, device), [&](const Row& r) {
            return r.device() == device && r.any().vendor() && r.rung() == rung;
          });
      peer.dashed = true;
      add_if_any(figure, std::move(peer));
    }
  }
  if (figure.series.empty()) return {};
  if (!worth_drawing(figure))
    return {as_bars(std::move(figure), group, {group.axis_title(), "", Scale::names},
                    {.label = group.title})};
  mark_break_evens(runs, group, figure);
  return {figure};
}

std::vector<Figure> speedups(const Group& group) {
  const Method method = common_method(group.rows, [](const Row&) { return true; });
  Figure figure{.title = group.title + ", speed-up over the peers",
                .note =
                    "Time of the peer over the time of the fastest own rung; above 1 ours is "
                    "faster.",
                .x = size_axis(group),
                .y = {fmt::format("speed-up, {}", name(method)), "×", Scale::log}};
  const auto is_cpu = [](const std::string& name) { return name.find("cpu") != std::string::npos; };
  for (const std::string& ours : group.devices)
    for (const std::string& theirs : group.devices) {
      if (theirs != ours && (!is_cpu(theirs) || is_cpu(ours))) continue;
      for (const std::string& rung : rungs_of(group, theirs)) {
        Series series{
            .label = fmt::format("{} over {}{}", ours, rung, ours == theirs ? "" : " on " + theirs),
            .dashed = ours != theirs};
        const auto at = [&](const std::string& device, double size, bool vendor) {
          return best(group, method, [&, size, vendor](const Row& r) {
            return r.device() == device && r.x == size && r.any().vendor() == vendor &&
                   (!vendor || r.rung() == rung);
          });
        };
        for (double size : sizes(group, std::mem_fn(&Row::good))) {
          const Entry *own = at(ours, size, false), *peer = at(theirs, size, true);
          if (!own || !peer || own->host != peer->host) continue;
          series.slot = own->device_slot;
          series.data.push_back({size, *peer->kernel / *own->kernel, own->variant()});
        }
        add_if_any(figure, std::move(series));
      }
    }
  if (!worth_drawing(figure)) return {};
  return {figure};
}

std::vector<Figure> ladder(const Group& group, const std::string& device) {
  const auto here = [&](const Row& r) { return r.good() && r.device() == device; };
  Figure figure = ladder_of(group, device, here);
  // One own rung and its peers are in the overview.
  if (std::ranges::count(figure.series, false, &Series::dashed) < 2) return {};
  const auto swept = std::ranges::count_if(
      figure.series, [](const Series& series) { return series.data.size() > 1; });
  if (2 * swept > std::ssize(figure.series)) return {figure};
  const double size = commonest_size(figure);
  figure = ladder_of(group, device, [&](const Row& r) { return here(r) && r.x == size; });
  const int slot = std::ranges::find(group.rows, device, &Row::device)->any().device_slot;
  return {as_bars(std::move(figure), group, {"rung", "", Scale::names},
                  {.label = device, .slot = slot})};
}

}  // namespace trine::bench::report
