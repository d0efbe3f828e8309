// The rate against a parameter, and by threads a group against the size (report.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "bench/stats/overtaking.hpp"
#include "report.hpp"

namespace trine::bench::report {
namespace {

/// Numbers by their value, words ("16x8") by their product and their first part.
bool parameter_less(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& text) {
    double product = 1, first = 0;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at != end;) {
      double value = 0;
      const auto [next, error] = std::from_chars(at, end, value);
      if (error != std::errc{}) return std::tuple(HUGE_VAL, 0.0, text);
      if (first == 0) first = value;
      product *= value;
      at = next != end && *next == 'x' ? next + 1 : next;
    }
    return std::tuple(product, first, text);
  };
  return key(a) < key(b);
}

std::vector<std::string> values_of(const Group& group, const std::string& key,
                                   const Filter& wanted) {
  std::vector<std::string> values;
  for (const Row& row : group.rows) {
    const std::string value = row.any().parameter(key);
    if (row.good() && wanted(row) && !value.empty()) values.push_back(value);
  }
  std::ranges::sort(values, parameter_less);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

double ramp(size_t index, size_t count) {
  return count < 2 ? 0 : double(index) / double(count - 1);
}

/// Of the sizes the eight that a picture has room for, evenly spread, the first and the last among them.
std::vector<double> some(const std::vector<double>& all) {
  if (all.size() <= 8) return all;
  std::vector<double> chosen;
  for (size_t i = 0; i < 8; ++i) chosen.push_back(all[i * (all.size() - 1) / 7]);
  return chosen;
}

/// The other parameters with which most values of `key` were measured, at most sizes; of several such
/// those that are the fastest.
std::string most_measured(const Group& group, Method method, const std::string& key,
                          const Filter& wanted) {
  struct Measured {
    std::set<std::string> values = {};
    std::set<std::pair<std::string, double>> places = {};
    double fastest = 0;
    auto key() const { return std::tuple(values.size(), places.size(), fastest); }
  };
  std::map<std::string, Measured> all;
  for (const Row& row : group.rows) {
    const Entry* e = row.*method;
    if (!e || !wanted(row) || e->parameter(key).empty()) continue;
    Measured& measured = all[e->parameter_text(", ", key)];
    measured.values.insert(e->parameter(key));
    measured.places.emplace(e->parameter(key), row.x);
    measured.fastest = std::max(measured.fastest, e->rate);
  }
  const auto most = std::ranges::max_element(
      all, [](const auto& a, const auto& b) { return a.second.key() < b.second.key(); });
  return most == all.end() ? std::string() : most->first;
}

/// What a picture against a parameter is of: one rung on one device, its other parameters held.
struct Fixed {
  std::string title, key, others;
  Method method;
  Filter wanted = {};
  std::vector<std::string> values = {};
  std::string note() const { return others.empty() ? "" : fmt::format("With {}.", others); }
};

Figure against_parameter(const Group& group, const Fixed& held) {
  Figure figure{.kind = Figure::Kind::bars,
                .title = fmt::format("{}, by {}", held.title, held.key),
                .note = held.note(),
                .x = {held.key, "", Scale::names, held.values},
                .y = rate_axis(group, held.method, Scale::linear)};
  const auto at = [&](double size, const std::string& value) {
    return best(group, held.method, [&](const Row& r) {
      return held.wanted(r) && r.x == size && r.any().parameter(held.key) == value;
    });
  };
  const std::vector<double> all = sizes(group, held.wanted);
  // Those with the most values: at a size of one value there is nothing to compare.
  const auto values_at = [&](double size) {
    return std::ranges::count_if(
        held.values, [&](const std::string& value) { return at(size, value) != nullptr; });
  };
  std::ptrdiff_t most = 0;
  for (const double size : all) most = std::max(most, values_at(size));
  std::vector<double> shown;
  std::copy_if(all.begin(), all.end(), std::back_inserter(shown),
               [&](double size) { return most > 1 && values_at(size) == most; });
  shown = some(shown);
  if (shown.size() < all.size())
    figure.note += fmt::format("{}{} of {} sizes are drawn.", figure.note.empty() ? "" : " ",
                               shown.size(), all.size());
  for (size_t i = 0; i < shown.size(); ++i) {
    Series series{.label = size_text(group, shown[i]), .ramp = ramp(i, shown.size())};
    for (size_t v = 0; v < held.values.size(); ++v)
      if (const Entry* e = at(shown[i], held.values[v]))
        series.data.push_back({double(v), e->rate, e->variant()});
    add_if_any(figure, std::move(series));
  }
  return figure;
}

/// One curve against another, size by size.
Overtaking overtaking(const Series& curve, const Series& other) {
  std::vector<Compared> both;
  for (const Point& p : curve.data)
    for (const Point& q : other.data)
      if (q.x == p.x) both.push_back({p.x, p.y / q.y});
  return bench::overtaking(both);
}

/// The CPU's curve to compare a GPU's with: one thread's where it was measured, on the CPU device with
/// the most sizes.
Series cpu_curve(const Group& group, Method method, size_t host) {
  Series curve;
  for (const bool sequential : {true, false}) {
    for (const std::string& device : group.devices) {
      Series series =
          envelope(group, method, device + (sequential ? " sequential" : ""), [&](const Row& r) {
            const Entry& e = r.any();
            return e.host == host && e.on_cpu() && !e.vendor() && e.device_name == device &&
                   (!sequential || e.rung_name == "sequential");
          });
      if (series.data.size() > curve.data.size()) curve = std::move(series);
    }
    if (!curve.data.empty()) break;
  }
  curve.dashed = true;
  return curve;
}

/// 004's picture, by single launches as its table.
Figure against_size(const Group& group, const Fixed& held, const Entry& any) {
  Figure figure{.title = held.title + ", by threads a group",
                .note = held.note(),
                .x = size_axis(group),
                .y = rate_axis(group, held.method)};
  Series cpu = any.on_cpu() ? Series() : cpu_curve(group, held.method, any.host);
  std::map<std::string, std::vector<std::string>> threads;
  for (size_t i = 0; i < held.values.size(); ++i) {
    Series series = envelope(group, held.method, held.values[i] + " threads", [&](const Row& r) {
      return held.wanted(r) && r.any().parameter("threads") == held.values[i];
    });
    series.ramp = ramp(i, held.values.size());
    const Overtaking overtakes = overtaking(series, cpu);
    if (const auto at = overtakes.crossing()) figure.marks.push_back({.at = *at});
    threads[overtakes.text([&](double size) { return size_text(group, size); })].push_back(
        held.values[i]);
    add_if_any(figure, std::move(series));
  }
  threads.erase("");
  std::vector<std::string> sentences;
  sentences.reserve(threads.size());
  for (const auto& [where, of] : threads)
    sentences.push_back(fmt::format("{} with {} threads", where, fmt::join(of, ", ")));
  if (!sentences.empty())
    figure.note += fmt::format("{}Break-even with {}: {}.", figure.note.empty() ? "" : " ",
                               cpu.label, fmt::join(sentences, "; "));
  add_if_any(figure, std::move(cpu));
  return figure;
}

}  // namespace

std::vector<Figure> parameters(const Group& group, const std::string& device) {
  std::vector<Figure> figures;
  for (const std::string& rung : rungs_of(group, device)) {
    const auto here = [&](const Row& r) {
      return r.good() && r.device() == device && r.rung() == rung;
    };
    const Entry& any = std::ranges::find_if(group.rows, here)->any();
    for (const auto& [key, value] : any.parameters) {
      const bool threads = key == "threads" && group.operation == Operation::reduce;
      const Method method = threads ? &Row::single : common_method(group.rows, here);
      Fixed held{.title = fmt::format("{}, {} on {}", group.title, rung, device),
                 .key = key,
                 .others = most_measured(group, method, key, here),
                 .method = method};
      held.wanted = [&](const Row& r) {
        return here(r) && r.any().parameter_text(", ", held.key) == held.others;
      };
      held.values = values_of(group, key, held.wanted);
      if (held.values.size() < 2) continue;
      Figure figure = threads && sizes(group, held.wanted).size() > 1
                          ? against_size(group, held, any)
                          : against_parameter(group, held);
      if (!figure.series.empty()) figures.push_back(std::move(figure));
    }
  }
  return figures;
}

}  // namespace trine::bench::report
