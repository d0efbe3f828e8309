#include "figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "curves.hpp"

namespace trine::bench::report {
namespace {

bool worth_drawing(const Figure& figure) {
  return std::any_of(figure.series.begin(), figure.series.end(),
                     [](const Series& s) { return s.data.size() > 1; });
}

/// Marks the crossings of resident data between devices whose curves the picture has, and says so.
void mark_crossings(const Document& document, const Group& group, Figure& figure) {
  const Entry& e = group.rows.front().any();
  // What crossings are of: whole arrays as they lie.
  const bool plain = (e.operation != "reduce" || (e.axis == "all" && e.map == "identity")) &&
                     e.result_dtype == e.dtype && e.layout.find('c') == std::string::npos &&
                     !e.access;
  if (!plain) return;
  const auto drawn = [&](const std::string& device) {
    return std::any_of(figure.series.begin(), figure.series.end(),
                       [&](const Series& series) { return series.label == device; });
  };
  for (const Extra& extra : document.crossings) {
    const ordered_json& c = extra.value;
    const auto text = [&](const char* key) {
      const ordered_json value = c.value(key, ordered_json());
      return value.is_string() ? value.get<std::string>() : std::string();
    };
    const auto number = [&](const char* key) {
      const ordered_json value = c.value(key, ordered_json());
      return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
    };
    if (text("operation") != group.operation || text("dtype") != group.dtype ||
        text("memory") != "resident" || !number("size") ||
        c.value("never", ordered_json()) == true ||
        (!text("function").empty() && text("function") != e.function))
      continue;
    const std::string from = document.device(extra.host, text("from"));
    const std::string to = document.device(extra.host, text("to"));
    if (!drawn(from) || !drawn(to)) continue;
    const Mark mark{.at = *number("size"), .low = number("low"), .high = number("high")};
    figure.note += fmt::format("{} {} overtakes {} at {:.0f}",
                               figure.marks.empty() ? " As calibrated," : "", to, from, mark.at);
    figure.note += mark.low && mark.high
                       ? fmt::format(" (between {:.0f} and {:.0f}).", *mark.low, *mark.high)
                       : ".";
    figure.marks.push_back(mark);
  }
}

/// Bars down the ladder, from a common zero, at the size that most rungs have.
Figure ladder_bars(Figure figure, const Group& group, const std::string& device, int slot,
                   const Wanted& here) {
  std::map<double, size_t> rungs;
  for (const Series& series : figure.series)
    for (const Point& p : series.data) ++rungs[p.x];
  const auto most = std::max_element(rungs.begin(), rungs.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  });
  const auto of_size = [&](const Row& r) { return here(r) && group.x(r.any()) == most->first; };
  const Method method = common_method(group.rows, of_size);
  Series bars{.label = device, .slot = slot};
  figure.title += ", " + size_text(group, most->first);
  figure.x = {"rung", "", Scale::names, {}};
  for (const Series& series : figure.series)
    if (const Entry* e = best(group, method, [&](const Row& r) {
          return of_size(r) && r.any().rung == series.label;
        })) {
      bars.data.push_back({double(figure.x.names.size()), e->rate.value, e->variant()});
      figure.x.names.push_back(series.label);
    }
  figure.kind = Figure::Kind::bars;
  figure.y = rate_axis(group, method, Scale::linear);
  figure.series = {bars};
  return figure;
}

}  // namespace

std::vector<Figure> overview(const Document& document, const Group& group, Palette& palette) {
  const Method method = common_method(group.rows, [](const Row&) { return true; });
  Figure figure{.title = group.title + ", the devices",
                .note = "The fastest rung of each device at each size; peers dashed.",
                .x = size_axis(group),
                .y = rate_axis(group, method)};
  for (const std::string& name : devices(document, group)) {
    const int slot = palette.devices.of(name);
    const auto own = [&](const Row& r) {
      return device_of(document, r) == name && !r.any().vendor;
    };
    add_if_any(figure, envelope(group, method, name, slot, own));
    for (const std::string& rung : rungs_of(document, group, name)) {
      Series peer =
          envelope(group, method, fmt::format("{} on {}", rung, name), slot, [&](const Row& r) {
            return device_of(document, r) == name && r.any().vendor && r.any().rung == rung;
          });
      peer.dashed = true;
      add_if_any(figure, std::move(peer));
    }
  }
  if (!worth_drawing(figure)) return {};
  mark_crossings(document, group, figure);
  return {figure};
}

std::vector<Figure> speedups(const Document& document, const Group& group, Palette& palette) {
  const Method method = common_method(group.rows, [](const Row&) { return true; });
  Figure figure{.title = group.title + ", speed-up over the peers",
                .note =
                    "Time of the peer over the time of the fastest own rung; above 1 ours is "
                    "faster.",
                .x = size_axis(group),
                .y = {fmt::format("speed-up, {}", name(method)), "×", Scale::log}};
  const std::vector<std::string> names = devices(document, group);
  const auto is_cpu = [](const std::string& name) { return name.find("cpu") != std::string::npos; };
  for (const std::string& ours : names)
    for (const std::string& theirs : names) {
      if (theirs != ours && (!is_cpu(theirs) || is_cpu(ours))) continue;
      for (const std::string& rung : rungs_of(document, group, theirs)) {
        Series series{
            .label = fmt::format("{} over {}{}", ours, rung, ours == theirs ? "" : " on " + theirs),
            .slot = palette.devices.of(ours),
            .dashed = ours != theirs};
        const auto at = [&](const std::string& device, double size, bool vendor) {
          return best(group, method, [&, size, vendor](const Row& r) {
            return device_of(document, r) == device && group.x(r.any()) == size &&
                   r.any().vendor == vendor && (!vendor || r.any().rung == rung);
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

std::vector<Figure> ladder(const Document& document, const Group& group, const std::string& device,
                           Palette& palette) {
  const auto here = [&](const Row& r) { return r.good() && device_of(document, r) == device; };
  const Method method = common_method(group.rows, here);
  const std::vector<std::string> rungs = rungs_of(document, group, device);
  const auto fastest = [&](const std::string& rung) {
    return best(group, method, [&](const Row& r) { return here(r) && r.any().rung == rung; });
  };
  // One own rung and its peers are in the overview.
  if (std::count_if(rungs.begin(), rungs.end(), [&](const std::string& rung) {
        return fastest(rung) && !fastest(rung)->vendor;
      }) < 2)
    return {};
  Figure figure{.title = fmt::format("{}, the ladder on {}", group.title, device),
                .note = "Each rung with its fastest parameters.",
                .x = size_axis(group),
                .y = rate_axis(group, method)};
  for (const std::string& rung : rungs) {
    Series series = envelope(group, method, rung, palette.rungs.of(rung),
                             [&](const Row& r) { return here(r) && r.any().rung == rung; });
    series.dashed = fastest(rung) && fastest(rung)->vendor;
    add_if_any(figure, std::move(series));
  }
  const auto swept = std::count_if(figure.series.begin(), figure.series.end(),
                                   [](const Series& series) { return series.data.size() > 1; });
  if (2 * swept > long(figure.series.size())) return {figure};
  return {ladder_bars(std::move(figure), group, device, palette.devices.of(device), here)};
}

}  // namespace trine::bench::report
