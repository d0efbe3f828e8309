// The source documents' tables again: every published figure beside today's, on the device at hand.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "bench/published/results.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"
#include "ladder.hpp"

namespace trine::bench {
namespace {

/// As the document has it.
std::string then_text(double value) { return std::isnan(value) ? "-" : fmt::format("{}", value); }

std::string figure_text(double value) {
  if (std::isnan(value)) return "-";
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

bool is_whole(const Table& table) { return std::ranges::count(table.figures, "whole ms") > 0; }

/// A line each, two columns a figure: what was published, and today's. `measured`: where the
/// results are the lines of a table, whose share of the roof is known.
std::vector<std::vector<std::string>> plain(const PublishedResults& published_results,
                                            const std::vector<Measured>& measured = {}) {
  std::vector<std::vector<std::string>> rows{{"", "rung"}};
  for (const std::string& figure : published_results.figures)
    rows[0].insert(rows[0].end(), {figure + " then", figure + " today"});
  rows[0].insert(rows[0].end(), {"of roof", "verified"});
  for (const PublishedResult& each : published_results.rows) {
    const size_t place = rows.size() - 1;
    std::vector<std::string> row{each.label, each.rung};
    for (size_t i = 0; i < each.today.size(); ++i)
      row.insert(row.end(), {then_text(each.published[i]), figure_text(each.today[i])});
    const Result* kernel = place < measured.size() ? kernel_of(measured[place]) : nullptr;
    row.insert(row.end(), {kernel ? share_text(*kernel, 1) : "-", each.verdict});
    rows.push_back(row);
  }
  return rows;
}

/// A row for each label; in each column "published → today", or today's alone.
std::vector<std::vector<std::string>> crossed(const Table& table,
                                              const std::vector<Measured>& measured) {
  const std::vector<std::string> columns = columns_of(table);
  std::vector<std::string> head{table.figures.front()};
  head.insert(head.end(), columns.begin(), columns.end());
  std::vector<std::vector<std::string>> rows{head};
  for (const Measured& each : measured) {
    if (rows.back().front() != each.line->label || rows.size() == 1) {
      rows.emplace_back(head.size(), "-");
      rows.back().front() = each.line->label;
    }
    const size_t column =
        size_t(std::find(columns.begin(), columns.end(), each.line->column) - columns.begin());
    const double then = published_of(*each.line, 0);
    const bool wrong = !kernel_of(each) && !each.results.empty();
    const std::string now = wrong ? verdict_of(each) : figure_text(each.today.front());
    rows.back()[column + 1] = std::isnan(then) ? now : fmt::format("{} → {}", then_text(then), now);
  }
  return rows;
}

/// Prints how the cells of a crossed table were verified.
void print_verified(const std::vector<Measured>& measured, const Device& device) {
  const auto count = [&](auto is) { return std::count_if(measured.begin(), measured.end(), is); };
  const auto here = count([](const Measured& each) { return !each.results.empty(); });
  const auto good = count([](const Measured& each) { return kernel_of(each) != nullptr; });
  if (here == 0)
    say("{} has none of these rungs.", device.id());
  else
    say("{} of {} verified.", int(good), int(here));
}

void print_break_evens(const Table& table, const std::vector<Measured>& measured) {
  for (const BreakEven& each : break_evens(table, measured))
    say("Break-even with {} at {}: {}", columns_of(table)[0], each.column, each.text);
}

/// How a figure can be above its roof, why there is none, and what was refused or wrong.
void print_remarks(const Table& table, const std::vector<Measured>& measured,
                   const Device& device) {
  const auto any = [&](auto is) { return std::any_of(measured.begin(), measured.end(), is); };
  if (any([](const Measured& each) { return is_above_roof(each.results); }))
    say("{}", kAboveRoofNote);
  const auto lacks = [&](bool of_device) {
    return table.lines[0].column.empty() && any([&](const Measured& each) {
             return each.results.empty() && each.line->on.empty() == of_device;
           });
  };
  if (lacks(true)) say("not here: {} has no such rung, or not with these parameters.", device.id());
  if (lacks(false)) say("not here: there is no cpu backend, or it has no such rung.");
  std::set<std::string> said;
  for (const Measured& each : measured)
    for (const Result& r : each.results)
      if (!r.failure.empty() && said.insert(r.failure).second)
        say("{}: {}: {}", verdict_text(r), each.line->rung, r.failure);
}

nlohmann::ordered_json to_json(const Publication& document, const Device& device,
                               const PublishedResults& published_results) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const PublishedResult& each : published_results.rows)
    rows.push_back({{"label", each.label},
                    {"column", each.column},
                    {"rung", each.rung},
                    {"verdict", each.verdict},
                    {"published", each.published},  // a NaN is written as null
                    {"today", each.today}});
  return {{"document", document.number},
          {"name", document.name},
          {"table", published_results.title},
          {"ours", published_results.ours},
          {"device", device.id()},
          {"figures", published_results.figures},
          {"rows", rows}};
}

/// Where a line is measured: the device, or the CPU, where there is that backend.
std::optional<Device> site_of(const Line& line, const Device& device) {
  if (line.on.empty()) return device;
  try {
    return open(line.on);
  } catch (const Error& error) {
    if (error.status() != Status::not_found) throw;
    return std::nullopt;
  }
}

/// Whether a device has a line's rung, with its parameters: a CPU's `sequential` has no threads a
/// group.
bool has_rung(const Device& device, const Line& line) {
  const std::string name = bare(line.rung);
  for (const RungInfo& rung : device.rungs(line.problem.operation))
    if (rung.name == name && (rung.name == line.rung || !rung.parameters.empty())) return true;
  return false;
}

/// The device's rungs that the document doesn't know, at a table's last case: the newer steps of
/// its ladder, or all of a CPU's, which is the counterpart of the GPU's.
void climb_own(LadderRun& run, const Device& device, const Publication& document,
               const Table& table) {
  const Problem& problem = table.lines.back().problem;
  std::set<std::string> named;  // with their parameters, too: the built-in choice may have others
  for (const Table& each : document.tables)
    for (const Line& line : each.lines)
      if (has_rung(device, line)) named.insert({line.rung, bare(line.rung)});
  std::vector<std::string> own;
  for (const std::string& rung : ladder_of(device, problem, false))
    if (!named.contains(rung)) own.push_back(rung);
  if (own.empty() || run.control.stop()) return;
  Runner runner(device, run.budget);
  std::printf("\nRungs of %s that the document hasn't:", device.id().c_str());
  climb(run, runner, problem, own);
}

/// Measures the lines that their devices have; the others stay without results.
std::vector<Measured> measure(LadderRun& run, const Device& device, const Table& table) {
  std::vector<Measured> measured;
  for (const Line& line : table.lines) {
    if (run.control.stop()) break;
    const std::optional<Device> site = site_of(line, device);
    measured.push_back({&line, {}, {}});
    if (!site || !has_rung(*site, line)) continue;
    Runner runner(*site, run.budget);
    measured.back().results = run.measure(runner, line.problem, line.rung, is_whole(table));
  }
  read_today(table, measured);
  return measured;
}

/// Tables of one problem that differ in nothing but their lines' rungs are climbed once.
bool is_first_of_its_case(const Publication& document, const Table& table) {
  for (const Table& each : document.tables) {
    if (&each == &table) return true;
    if (to_string(each.lines.back().problem) == to_string(table.lines.back().problem)) return false;
  }
  return true;
}

/// A roofline today, under the roofs that these kernels have: a copy, and fused multiply-adds of
/// the plain units. A device on which none of the document's kernels is right stands there with its
/// own choice.
PublishedResults roofline_today(LadderRun& run, const Device& device, const Table& table,
                                const std::vector<Measured>& measured) {
  const std::string& label = table.roofline->label;
  const Line& line = *std::find_if(table.lines.begin(), table.lines.end(),
                                   [&](const Line& each) { return each.label == label; });
  Measured own{&line};
  const Measured* best = best_of(measured, label);
  if (!best || !kernel_of(*best)) {
    Runner runner(device, run.budget);
    own.results = run.measure(runner, line.problem, "");
    print_reasons(own.results);
    best = &own;
  }
  std::vector<DeviceRoof> roofs;
  run.control.show(fmt::format("roofs of {}", device.id()));
  for (const auto& roof :
       {roof_in_a_step(device, "copy"), roof_in_a_step(device, "fma", line.problem.dtype)})
    if (roof) roofs.push_back(*roof);
  run.control.show("");
  return read_roofline(table, best, nominal_ceilings(roofs, line.problem),
                       measured_ceilings(roofs, line.problem));
}

/// Prints the results that the document reads off a table.
std::vector<PublishedResults> read(LadderRun& run, const Device& device, const Table& table,
                                   const std::vector<Measured>& measured) {
  std::vector<PublishedResults> all;
  if (table.over_first) all.push_back(speed_ups(table, measured));
  if (table.curves) all.push_back(peaks(table, measured));
  if (table.bests) all.push_back(bests(table, measured));
  if (table.roofline && !run.control.stop())
    all.push_back(roofline_today(run, device, table, measured));
  for (const PublishedResults& each : all) {
    say("\n{}", each.title);
    print_table(plain(each), 2);
  }
  return all;
}

}  // namespace

void reproduce(LadderRun& run, const Device& device, const Publication& document,
               const std::vector<Operation>& operations) {
  for (const Table& table : document.tables) {
    if (run.control.stop()) return;
    if (!is_one_of(table, operations)) continue;
    const std::vector<Measured> measured = measure(run, device, table);
    const PublishedResults lines = lines_of(table, measured);
    say("\n{} {}: {}, on {}", document.number, document.name, table.title, device.id());
    if (!table.ours.empty()) say("(ours: {})", table.ours);
    const bool plainly = table.lines[0].column.empty();
    print_table(plainly ? plain(lines, measured) : crossed(table, measured), plainly ? 2 : 1);
    if (!plainly) print_verified(measured, device);
    if (table.curves) print_break_evens(table, measured);
    print_remarks(table, measured, device);
    run.document.arrays["published"].push_back(to_json(document, device, lines));
    for (const PublishedResults& published_results : read(run, device, table, measured))
      run.document.arrays["published"].push_back(to_json(document, device, published_results));
    std::fflush(stdout);
    if (is_first_of_its_case(document, table)) climb_own(run, device, document, table);
  }
  if (!document.remark.empty()) say("\n{}", document.remark);
}

}  // namespace trine::bench
