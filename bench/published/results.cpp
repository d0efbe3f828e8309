#include "results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

namespace trine::bench {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double or_none(double value) { return value > 0 ? value : kNone; }

std::vector<std::string> each_once(const Table& table, std::string Line::*word) {
  std::vector<std::string> words;
  for (const Line& line : table.lines)
    if (std::ranges::find(words, line.*word) == words.end()) words.push_back(line.*word);
  return words;
}

const Measured* at(const std::vector<Measured>& measured, const std::string& label,
                   const std::string& column) {
  for (const Measured& each : measured)
    if (each.line->label == label && each.line->column == column) return &each;
  return nullptr;
}

double seconds_of(const Measured* measured) {
  const Result* kernel = measured ? kernel_of(*measured) : nullptr;
  return kernel ? *kernel->kernel : kNone;
}

bool is_right(const Measured* measured) { return measured && kernel_of(*measured); }

/// The line with the largest of today's figures among those that `enters` lets in; where none is
/// right, the first that has results.
template <class Enters>
const Measured* largest(const std::vector<Measured>& measured, Enters enters) {
  const Measured* best = nullptr;
  for (const Measured& each : measured) {
    if (!enters(*each.line) || each.results.empty()) continue;
    if (!best || (is_right(&each) && (!is_right(best) || each.today[0] > best->today[0])))
      best = &each;
  }
  return best;
}

std::string verdict_of(const Measured* measured) {
  return measured ? verdict_of(*measured) : "not here";
}

/// `before` and `first`: the lines that step and cumulative look back to, null where they aren't
/// right.
double today(const std::string& figure, const Measured& measured, const Result* before,
             const Result* first) {
  const Result* r = kernel_of(measured);
  if (!r) return kNone;
  if (figure == "ms") return *r->kernel * 1e3;
  if (figure == "GB/s" || figure == "GF/s") return r->rate / 1e9;
  if (figure == "Gelem/s") return elements_of(r->problem) / *r->kernel / 1e9;
  if (figure == "step") return before ? *before->kernel / *r->kernel : kNone;
  if (figure == "cumulative") return first && first != r ? *first->kernel / *r->kernel : kNone;
  if (figure != "whole ms") throw std::invalid_argument("tables.json: no figure '" + figure + "'");
  for (const Result& whole : measured.results)
    if (whole.verified && whole.memory == "pageable" && whole.total) return *whole.total * 1e3;
  return kNone;
}

/// A figure stands on two verdicts: gives the one that makes it invalid, else the first.
std::string worse(const std::string& verdict, const std::string& other) {
  for (const char* bad : {"WRONG", "refused", "not here"})
    if (verdict == bad || other == bad) return bad;
  return verdict;
}

double published_best(const Table& table, const std::string& label, const std::string& but = {}) {
  double best = kNone;
  for (const Line& line : table.lines)
    if (line.label == label && (but.empty() || line.column != but))
      best = std::fmax(best, published_of(line));
  return best;
}

/// `best`: the line that today's figures stand on, or that says why there are none.
PublishedResult reading(const std::string& label, const Measured* best,
                        std::vector<double> published, std::vector<double> today) {
  const Result* ran = is_right(best) ? kernel_of(*best) : best ? &best->results.front() : nullptr;
  const std::string rung = !ran ? "" : ran->rung.empty() ? ran->requested : ran->rung;
  return {label, "", rung, verdict_of(best), std::move(published), std::move(today)};
}

/// NaN where there is none, or where it lies below the sizes.
double least_crossing(const std::vector<BreakEven>& all) {
  double least = kNone;
  for (const BreakEven& each : all) {
    if (each.found.ahead && !each.found.behind) return kNone;
    least = std::fmin(least, each.found.crossing().value_or(kNone));
  }
  return least;
}

}  // namespace

const Result* kernel_of(const Measured& measured) {
  for (const Result& r : measured.results)
    if (r.verified && r.kernel && r.memory == "resident" && r.method == "single") return &r;
  return nullptr;
}

std::string verdict_of(const Measured& measured) {
  if (measured.results.empty()) return "not here";
  for (const Result& r : measured.results)
    if (!r.verified) return verdict_text(r);
  return verdict_text(measured.results.front());
}

void read_today(const Table& table, std::vector<Measured>& measured) {
  const Result *before = nullptr, *first = measured.empty() ? nullptr : kernel_of(measured.front());
  for (Measured& each : measured) {
    for (const std::string& figure : table.figures)
      each.today.push_back(today(figure, each, before, first));
    const Result* kernel = kernel_of(each);
    const bool published = !each.line->published.empty();
    if (kernel || published) before = kernel;  // no step over a rung that is missing here alone
  }
}

double elements_of(const Problem& p) { return double(p.size.rows) * double(p.size.cols); }

double published_of(const Line& line, size_t figure) {
  return figure < line.published.size() ? line.published[figure] : kNone;
}

std::vector<std::string> columns_of(const Table& table) { return each_once(table, &Line::column); }
std::vector<std::string> labels_of(const Table& table) { return each_once(table, &Line::label); }

std::vector<BreakEven> break_evens(const Table& table, const std::vector<Measured>& measured) {
  const std::vector<std::string> columns = columns_of(table);
  std::map<double, std::string> labels;
  for (const Line& line : table.lines) labels.emplace(elements_of(line.problem), line.label);
  std::vector<BreakEven> all;
  for (size_t c = 1; c < columns.size(); ++c) {
    std::vector<Compared> sizes;
    for (const auto& [size, label] : labels) {
      const double first = seconds_of(at(measured, label, columns[0]));
      const double mine = seconds_of(at(measured, label, columns[c]));
      if (!std::isnan(first) && !std::isnan(mine)) sizes.push_back({size, first / mine});
    }
    if (sizes.empty()) continue;
    const Overtaking found = overtaking(sizes);
    std::string text = found.text([&](double size) { return labels.at(size); });
    if (const auto at = found.crossing()) text += fmt::format(", near {:.0f} elements", *at);
    all.push_back({columns[c], std::move(text), found});
  }
  return all;
}

PublishedResults lines_of(const Table& table, const std::vector<Measured>& measured) {
  PublishedResults published_results{table.title, table.figures, {}, table.ours};
  for (const Measured& each : measured) {
    std::vector<double> published;
    for (size_t i = 0; i < table.figures.size(); ++i)
      published.push_back(published_of(*each.line, i));
    published_results.rows.push_back({each.line->label, each.line->column, each.line->rung,
                                      verdict_of(each), std::move(published), each.today});
  }
  return published_results;
}

PublishedResults peaks(const Table& table, const std::vector<Measured>& measured) {
  const std::string first = columns_of(table).front();
  const Curves& then = *table.curves;
  const auto row = [&](const char* label, bool of_first, std::vector<double> published,
                       double even) {
    const Measured* best =
        largest(measured, [&](const Line& line) { return (line.column == first) == of_first; });
    const bool right = is_right(best);
    std::vector<double> today{right ? best->today[0] : kNone,
                              right ? elements_of(best->line->problem) : kNone, even};
    return reading(label, best, std::move(published), std::move(today));
  };
  return {table.title + ", its peaks",
          {table.figures[0], "elements", "break-even"},
          {row(first.c_str(), true, {then.first_peak, kNone, kNone}, kNone),
           row("best of the others", false, {then.peak, then.elements, then.break_even},
               least_crossing(break_evens(table, measured)))}};
}

PublishedResults speed_ups(const Table& table, const std::vector<Measured>& measured) {
  const std::string first = columns_of(table).front();
  PublishedResults published_results{"speed-up over " + first, {"over " + first}, {}};
  for (const std::string& label : labels_of(table)) {
    const Measured* best = largest(
        measured, [&](const Line& line) { return line.label == label && line.column != first; });
    const Measured* base = at(measured, label, first);
    const auto of_first = std::ranges::find_if(
        table.lines, [&](const Line& line) { return line.label == label && line.column == first; });
    published_results.rows.push_back(
        reading(label, best, {published_best(table, label, first) / published_of(*of_first)},
                {seconds_of(base) / seconds_of(best)}));
    published_results.rows.back().verdict = worse(verdict_of(best), verdict_of(base));
  }
  return published_results;
}

PublishedResults bests(const Table& table, const std::vector<Measured>& measured) {
  PublishedResults published_results{table.title + ", the best", {table.figures[0]}, {}};
  for (const std::string& label : labels_of(table)) {
    const Measured* best = best_of(measured, label);
    published_results.rows.push_back(reading(label, best, {published_best(table, label)},
                                             {is_right(best) ? best->today[0] : kNone}));
  }
  return published_results;
}

const Measured* best_of(const std::vector<Measured>& measured, const std::string& label) {
  return largest(measured, [&](const Line& line) { return line.label == label; });
}

PublishedResults read_roofline(const Table& table, const Measured* best, const Ceilings& nominal,
                               const Ceilings& measured) {
  const Problem& problem = table.lines[0].problem;
  const std::string unit = fmt::format("flop/{}", name(problem.dtype));
  PublishedResults published_results{table.title + ", the roofline at " + table.roofline->label,
                                     {"GB/s", "GF/s", "ridge " + unit, "point " + unit},
                                     {}};
  const double rate = is_right(best) ? kernel_of(*best)->rate : kNone;
  for (const Roofline::Roofs& then : table.roofline->roofs) {
    const Ceilings& today = then.label == "nominal" ? nominal : measured;
    const double bandwidth = or_none(today.bandwidth), arithmetic = or_none(today.arithmetic);
    const double size = double(size_of(problem.dtype));
    published_results.rows.push_back(
        reading(then.label, best, {then.gigabytes, then.gigaflops, then.ridge, then.point},
                {bandwidth / 1e9, arithmetic / 1e9, arithmetic / bandwidth * size,
                 rate / bandwidth * size}));
  }
  return published_results;
}

}  // namespace trine::bench
