#include "best.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <set>

#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"
#include "side_by_side.hpp"

namespace trine::bench {
namespace {

void check_fixed(const RungInfo& rung, const Parameters& fixed) {
  for (const auto& [name, value] : fixed) {
    const auto known = std::ranges::find(rung.parameters, name, &RungInfo::Parameter::name);
    if (known == rung.parameters.end() ||
        std::ranges::find(known->values, value) == known->values.end())
      throw Refusal(fmt::format("rung {}: there is no {}={}", rung.name, name, value));
  }
}

double median_of(const std::vector<Result>& rounds) {
  Samples seconds;
  for (const Result& round : rounds) seconds.seconds.push_back(*round.kernel);
  return seconds.median();
}

std::vector<std::string> row_of(const Swept& swept, const Trial& trial) {
  const Problem& problem = trial.results.front().problem;
  const Trial& built_in = swept.trials.front();
  const std::string_view method =
      common_method(std::array{std::cref(trial.results), std::cref(built_in.results)});
  const Result *figure = trial.figure(method), *standing = built_in.figure(method);
  std::vector<std::string> row =
      line_of({to_string(problem.operation, problem.size), trial.rung}, trial.results, method,
              {figure && standing ? ratio_text(*standing->kernel / *figure->kernel) : "-"});
  if (&trial == &built_in) row.back() += ", built-in";
  if (trial.rung == swept.best) row.back() += ", best";
  return row;
}

}  // namespace

std::vector<std::string> configurations(const RungInfo& rung, std::string_view fixed) {
  const Parameters settled = parameters_of(fmt::format(":{}", fixed));
  check_fixed(rung, settled);
  std::vector<std::string> all{rung.name};
  char separator = ':';
  for (const RungInfo::Parameter& parameter : rung.parameters) {
    const auto at = std::ranges::find(settled, parameter.name, &Parameters::value_type::first);
    std::vector<std::string> longer;
    for (const std::string& text : all)
      for (const std::string& value : parameter.values)
        if (at == settled.end() || at->second == value)
          longer.push_back(fmt::format("{}{}{}={}", text, separator, parameter.name, value));
    all = std::move(longer);
    separator = ',';
  }
  return all;
}

const Result* figure_of(const std::vector<Result>& results, std::string_view method) {
  const Result* figure = nullptr;
  for (const Result& result : results) {
    if (!result.verified || !result.kernel) return nullptr;
    if (result.memory == "resident" && result.method == method) figure = &result;
  }
  return figure;
}

std::vector<std::string> line_of(std::vector<std::string> head, const std::vector<Result>& results,
                                 std::string_view method, const std::vector<std::string>& ratios) {
  const Result *single = figure_of(results, "single"), *figure = figure_of(results, method);
  const Result* sustained = figure_of(results, "sustained");
  std::vector<std::string> row = std::move(head);
  if (single && figure) {
    row.insert(row.end(), {time_text(figure->kernel), time_text(single->kernel),
                           sustained ? time_text(sustained->kernel) : "-", rate_text(*figure)});
    row.insert(row.end(), ratios.begin(), ratios.end());
    row.push_back(share_text(*figure, 1));
  } else {
    row.resize(row.size() + 5 + ratios.size(), "-");
  }
  row.emplace_back(verdict_text(results.back()));
  return row;
}

bool may_be_chosen(Numerics rung, Numerics asked) {
  return rung == Numerics::reproducible || (rung == Numerics::fast && asked == Numerics::fast);
}

bool Rounds::is_gain() const {
  double slowest = 0, fastest = 0;
  for (const Result& round : challenger)
    slowest = std::max(slowest, *round.kernel * (1 + round.spread));
  for (const Result& round : standing) {
    const double least = *round.kernel * (1 - round.spread);
    if (fastest == 0 || least < fastest) fastest = least;
  }
  return slowest < fastest;
}

double Rounds::challenger_seconds() const { return median_of(challenger); }
double Rounds::standing_seconds() const { return median_of(standing); }

void Trial::add(std::vector<Result> round) {
  rounds.push_back(std::move(round));
  results = combined(rounds);
}

void print_sweep(const Device& device, const std::vector<Swept>& all) {
  if (all.empty()) return;
  std::string title = to_string(all.front().problem);
  const std::string size = to_string(all.front().problem.operation, all.front().problem.size);
  title.erase(title.find(" " + size), size.size() + 1);
  say("\n{} on {}", title, device.id());
  std::vector<std::vector<std::string>> rows{{"size", "rung", "time", "single", "sustained", "rate",
                                              "vs built-in", "of roof", "verified"}};
  std::set<std::string> notes;
  for (const Swept& swept : all) {
    std::vector<const Trial*> order;
    for (const Trial& trial : swept.trials) {
      const Result& first = trial.results.front();
      if (first.skipped) {
        notes.insert(fmt::format("refused: {}", first.failure));
        continue;
      }
      order.push_back(&trial);
      const std::string wrong = failure_of(trial.results);
      if (!wrong.empty())
        notes.insert(fmt::format("WRONG: {} at {}: {}", trial.rung,
                                 to_string(first.problem.operation, first.problem.size), wrong));
    }
    // The fastest single launch first, those that are wrong last.
    std::stable_sort(order.begin(), order.end(), [](const Trial* a, const Trial* b) {
      const Result *left = a->figure("single"), *right = b->figure("single");
      return left && (!right || *left->kernel < *right->kernel);
    });
    if (rows.size() > 1) rows.emplace_back();
    for (const Trial* trial : order) rows.push_back(row_of(swept, *trial));
  }
  print_table(rows, 2, kWideColumns);
  for (const std::string& line : notes) say("{}", line);
  for (const Swept& swept : all)
    say("{}: {}.", to_string(swept.problem.operation, swept.problem.size), swept.sentence);
  std::fflush(stdout);
}

}  // namespace trine::bench
