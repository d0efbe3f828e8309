#include "figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace trine::bench::report {
namespace {

std::string device_of(const Document& document, const Row& row) {
  return document.device(row.any().host, row.any().device);
}

Axis size_axis(const Group& group) { return {group.axis_title(), "", Scale::log2}; }

Axis rate_axis(const Group& group, Scale scale = Scale::log) {
  return {group.unit == "B/s" ? "effective bandwidth" : "performance", group.unit, scale};
}

/// The fastest of the rows wanted at each size.
Series envelope(const Group& group, const std::string& label, int slot,
                const std::function<bool(const Row&)>& wanted) {
  Series series{.label = label, .slot = slot};
  for (double size : sizes(group, wanted))
    if (const Row* row =
            best(group, [&](const Row& r) { return group.x(r.any()) == size && wanted(r); }))
      series.data.push_back({size, row->rate(), row->any().variant()});
  return series;
}

bool worth_drawing(const Figure& figure) {
  return std::any_of(figure.series.begin(), figure.series.end(),
                     [](const Series& s) { return s.data.size() > 1; });
}

void add_if_any(Figure& figure, Series series) {
  if (!series.data.empty()) figure.series.push_back(std::move(series));
}

/// Marks the crossings of resident data that concern the group, and says so.
void mark_crossings(const Document& document, const Group& group, Figure& figure) {
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
    const Entry& e = group.rows.front().any();
    // What crossings are of: whole arrays as they lie.
    const bool plain = (e.operation != "reduce" || (e.axis == "all" && e.map == "identity")) &&
                       e.result_dtype == e.dtype && e.layout.find('c') == std::string::npos;
    const bool of_a_host_here =
        std::any_of(group.rows.begin(), group.rows.end(),
                    [&](const Row& r) { return r.any().host == extra.host; });
    if (!plain || !of_a_host_here) continue;
    if (text("operation") != group.operation || text("dtype") != group.dtype ||
        text("memory") != "resident" || !number("size") ||
        c.value("never", ordered_json()) == true ||
        (!text("function").empty() && text("function") != e.function))
      continue;
    const Mark mark{.at = *number("size"), .low = number("low"), .high = number("high")};
    figure.note +=
        fmt::format(" {} overtakes {} at {:.0f}", document.device(extra.host, text("to")),
                    document.device(extra.host, text("from")), mark.at);
    figure.note += mark.low && mark.high
                       ? fmt::format(" (between {:.0f} and {:.0f}).", *mark.low, *mark.high)
                       : ".";
    figure.marks.push_back(mark);
  }
}

/// Where the curve, from below, overtakes the other for good, between measured sizes on a straight line
/// of the logarithms; none where it doesn't within them.
std::optional<double> overtakes(const Series& curve, const Series& other) {
  std::optional<double> at, before;
  double before_x = 0;
  for (const Point& p : curve.data) {
    const auto match = std::find_if(other.data.begin(), other.data.end(),
                                    [&](const Point& q) { return q.x == p.x; });
    if (match == other.data.end()) continue;
    const double ahead = std::log(p.y / match->y);
    if (ahead <= 0) at.reset();
    if (ahead > 0 && before && *before <= 0)
      at = std::exp(std::log(before_x) + std::log(p.x / before_x) * (-*before / (ahead - *before)));
    before = ahead;
    before_x = p.x;
  }
  return at;
}

/// Whether the curve lies above the other at each size that both have.
bool is_ahead(const Series& curve, const Series& other) {
  bool any = false;
  for (const Point& p : curve.data)
    for (const Point& q : other.data) {
      if (q.x != p.x) continue;
      if (p.y <= q.y) return false;
      any = true;
    }
  return any;
}

std::vector<std::string> rungs_of(const Document& document, const Group& group,
                                  const std::string& device) {
  std::vector<std::string> names;
  for (const Row& row : group.rows)
    if (row.good() && device_of(document, row) == device &&
        std::find(names.begin(), names.end(), row.any().rung) == names.end())
      names.push_back(row.any().rung);
  return names;
}

/// Numbers by their value, words ("16x8") by their product and their first part.
bool parameter_less(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& text) {
    double product = 1, first = 0;
    for (const char* at = text.c_str(); *at != '\0';) {
      char* end = nullptr;
      const double value = std::strtod(at, &end);
      if (end == at) return std::tuple(HUGE_VAL, 0.0, text);
      if (first == 0) first = value;
      product *= value;
      at = *end == 'x' ? end + 1 : end;
    }
    return std::tuple(product, first, text);
  };
  return key(a) < key(b);
}

std::vector<std::string> values_of(const Group& group, const std::string& key,
                                   const std::function<bool(const Row&)>& wanted) {
  std::vector<std::string> values;
  for (const Row& row : group.rows) {
    const std::string value = row.any().parameter(key);
    if (row.good() && wanted(row) && !value.empty()) values.push_back(value);
  }
  std::sort(values.begin(), values.end(), parameter_less);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

double ramp(size_t index, size_t count) {
  return count < 2 ? 0 : double(index) / double(count - 1);
}

/// At most eight, evenly spread, the first and the last among them.
/// Of at most eight sizes that a picture has room for.
std::vector<double> some(const std::vector<double>& all) {
  if (all.size() <= 8) return all;
  std::vector<double> chosen;
  for (size_t i = 0; i < 8; ++i) chosen.push_back(all[i * (all.size() - 1) / 7]);
  return chosen;
}

std::string size_text(const Group& group, double size) {
  for (const Row& row : group.rows)
    if (group.x(row.any()) == size) return row.any().size();
  return fmt::format("{:g}", size);
}

Figure against_parameter(const Group& group, const std::string& title, const std::string& key,
                         const std::vector<std::string>& values,
                         const std::function<bool(const Row&)>& wanted) {
  Figure figure{.kind = Figure::Kind::bars,
                .title = fmt::format("{}, by {}", title, key),
                .note = "Each bar is the fastest of the other parameters.",
                .x = {key, "", Scale::names, values},
                .y = rate_axis(group, Scale::linear)};
  const std::vector<double> all = sizes(group, wanted);
  // Those with the most values: at a size of one value there is nothing to compare.
  const auto values_at = [&](double size) {
    return std::count_if(values.begin(), values.end(), [&](const std::string& value) {
      return best(group, [&](const Row& r) {
               return wanted(r) && group.x(r.any()) == size && r.any().parameter(key) == value;
             }) != nullptr;
    });
  };
  std::ptrdiff_t most = 0;
  for (const double size : all) most = std::max(most, values_at(size));
  std::vector<double> shown;
  std::copy_if(all.begin(), all.end(), std::back_inserter(shown),
               [&](double size) { return values_at(size) == most; });
  shown = some(shown);
  if (shown.size() < all.size())
    figure.note += fmt::format(" {} of {} sizes are drawn.", shown.size(), all.size());
  for (size_t i = 0; i < shown.size(); ++i) {
    Series series{.label = size_text(group, shown[i]), .ramp = ramp(i, shown.size())};
    for (size_t v = 0; v < values.size(); ++v)
      if (const Row* row = best(group, [&](const Row& r) {
            return wanted(r) && group.x(r.any()) == shown[i] && r.any().parameter(key) == values[v];
          }))
        series.data.push_back({double(v), row->rate(), row->any().variant()});
    add_if_any(figure, std::move(series));
  }
  return figure;
}

/// 004's picture.
Figure against_size(const Document& document, const Group& group, const std::string& title,
                    const std::vector<std::string>& values, const Row& any, Palette& palette,
                    const std::function<bool(const Row&)>& wanted) {
  Figure figure{.title = title + ", by threads a group",
                .note = {},
                .x = size_axis(group),
                .y = rate_axis(group)};
  const size_t host = any.any().host;
  const auto of_cpu = [&](const Row& r) {
    return r.any().host == host && r.any().device.starts_with("cpu") && !r.any().vendor;
  };
  const auto sequential = [&](const Row& r) { return of_cpu(r) && r.any().rung == "sequential"; };
  Series cpu = envelope(group, "", 0, sequential);
  const std::string label = cpu.data.empty() ? "cpu" : "cpu sequential";
  if (cpu.data.empty()) cpu = envelope(group, "", 0, of_cpu);
  cpu.label = label;
  cpu.slot = palette.devices.of(document.device(host, "cpu"));
  cpu.dashed = true;
  std::vector<std::string> sentences, ahead;
  for (size_t i = 0; i < values.size(); ++i) {
    Series series = envelope(group, values[i] + " threads", 0, [&](const Row& r) {
      return wanted(r) && r.any().parameter("threads") == values[i];
    });
    series.ramp = ramp(i, values.size());
    if (!of_cpu(any) && is_ahead(series, cpu)) ahead.push_back(values[i]);
    if (const auto at = of_cpu(any) ? std::nullopt : overtakes(series, cpu)) {
      figure.marks.push_back({.at = *at});
      sentences.push_back(fmt::format("{:.0f} with {}", *at, values[i]));
    }
    add_if_any(figure, std::move(series));
  }
  if (!sentences.empty())
    figure.note = fmt::format("Elements at break-even with {}: {} threads.", label,
                              fmt::join(sentences, ", "));
  if (!ahead.empty())
    figure.note += fmt::format("{}Ahead of {} at every size measured here with {} threads.",
                               figure.note.empty() ? "" : " ", label, fmt::join(ahead, ", "));
  if (figure.note.empty() && !of_cpu(any) && !cpu.data.empty())
    figure.note = fmt::format("It doesn't overtake {} at a size measured here.", label);
  add_if_any(figure, std::move(cpu));
  return figure;
}

/// Bars down the ladder, from a common zero, at the size that most rungs have.
Figure ladder_bars(Figure figure, const Group& group, const std::string& device, int slot,
                   const std::function<bool(const Row&)>& here) {
  std::map<double, size_t> rungs;
  for (const Series& series : figure.series)
    for (const Point& p : series.data) ++rungs[p.x];
  const auto most = std::max_element(rungs.begin(), rungs.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  });
  const auto fastest = [&](const std::string& rung, const Entry* Row::*method) {
    const Entry* found = nullptr;
    for (const Row& row : group.rows) {
      const Entry* entry = row.*method;
      if (!entry || !here(row) || entry->rung != rung || group.x(*entry) != most->first) continue;
      if (!found || entry->rate.value > found->rate.value) found = entry;
    }
    return found;
  };
  // One method for all bars: back to back where every rung has such a figure.
  const bool single =
      std::any_of(figure.series.begin(), figure.series.end(), [&](const Series& series) {
        return fastest(series.label, &Row::single) && !fastest(series.label, &Row::sustained);
      });
  Series bars{.label = device, .slot = slot};
  figure.title += ", " + size_text(group, most->first);
  figure.note += single ? " Single launches." : " Launches back to back.";
  figure.x = {"rung", "", Scale::names, {}};
  for (const Series& series : figure.series)
    if (const Entry* entry = fastest(series.label, single ? &Row::single : &Row::sustained)) {
      bars.data.push_back({double(figure.x.names.size()), entry->rate.value, entry->variant()});
      figure.x.names.push_back(series.label);
    }
  figure.kind = Figure::Kind::bars;
  figure.y.scale = Scale::linear;
  figure.series = {bars};
  return figure;
}

}  // namespace

std::vector<Figure> overview(const Document& document, const Group& group, Palette& palette) {
  Figure figure{.title = group.title + ", the devices",
                .note = "The fastest rung of each device at each size; peers dashed.",
                .x = size_axis(group),
                .y = rate_axis(group)};
  for (const std::string& name : devices(document, group)) {
    const int slot = palette.devices.of(name);
    const auto own = [&](const Row& r) {
      return device_of(document, r) == name && !r.any().vendor;
    };
    add_if_any(figure, envelope(group, name, slot, own));
    for (const std::string& rung : rungs_of(document, group, name)) {
      Series peer = envelope(group, fmt::format("{} on {}", rung, name), slot, [&](const Row& r) {
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
  Figure figure{
      .title = group.title + ", speed-up over the peers",
      .note =
          "Time of the peer over the time of the fastest own rung, by the same method; above "
          "1 ours is faster.",
      .x = size_axis(group),
      .y = {"speed-up", "×", Scale::log}};
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
          return best(group, [&, size, vendor](const Row& r) {
            return device_of(document, r) == device && group.x(r.any()) == size &&
                   r.any().vendor == vendor && (!vendor || r.any().rung == rung);
          });
        };
        for (double size : sizes(group, [](const Row& r) { return r.good(); })) {
          const Row *own = at(ours, size, false), *peer = at(theirs, size, true);
          if (!own || !peer || own->any().host != peer->any().host) continue;
          if (const auto ratio = speedup(*own, *peer))
            series.data.push_back({size, *ratio, own->any().variant()});
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
  const std::vector<std::string> rungs = rungs_of(document, group, device);
  const auto own = [&](const std::string& rung) {
    return best(group, [&](const Row& r) {
             return here(r) && r.any().rung == rung && !r.any().vendor;
           }) != nullptr;
  };
  // One own rung and its peers are in the overview.
  if (std::count_if(rungs.begin(), rungs.end(), own) < 2) return {};
  Figure figure{.title = fmt::format("{}, the ladder on {}", group.title, device),
                .note = "Each rung with its fastest parameters.",
                .x = size_axis(group),
                .y = rate_axis(group)};
  for (const std::string& rung : rungs) {
    Series series = envelope(group, rung, palette.rungs.of(rung),
                             [&](const Row& r) { return here(r) && r.any().rung == rung; });
    const Row* any = best(group, [&](const Row& r) { return here(r) && r.any().rung == rung; });
    series.dashed = any != nullptr && any->any().vendor;
    add_if_any(figure, std::move(series));
  }
  const auto swept = std::count_if(figure.series.begin(), figure.series.end(),
                                   [](const Series& series) { return series.data.size() > 1; });
  if (2 * swept > long(figure.series.size())) return {figure};
  return {ladder_bars(std::move(figure), group, device, palette.devices.of(device), here)};
}

std::vector<Figure> parameters(const Document& document, const Group& group,
                               const std::string& device, Palette& palette) {
  std::vector<Figure> figures;
  for (const std::string& rung : rungs_of(document, group, device)) {
    const auto here = [&](const Row& r) {
      return r.good() && device_of(document, r) == device && r.any().rung == rung;
    };
    const Row* any = best(group, here);
    const bool several = sizes(group, here).size() > 1;
    const std::string title = fmt::format("{}, {} on {}", group.title, rung, device);
    for (const auto& [key, value] : any->any().parameters) {
      const std::vector<std::string> values = values_of(group, key, here);
      if (values.size() < 2) continue;
      if (key == "threads" && several && group.operation == "reduce")
        figures.push_back(against_size(document, group, title, values, *any, palette, here));
      else
        figures.push_back(against_parameter(group, title, key, values, here));
    }
  }
  return figures;
}

}  // namespace trine::bench::report
