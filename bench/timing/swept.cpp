#include "swept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <set>

#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"
#include "side_by_side.hpp"

namespace trine::bench {
namespace {

std::vector<std::string> row_of(const Swept& swept, const Trial& trial) {
  const Result& first = trial.results.front();
  std::vector<std::string> row{to_string(first.problem.operation, first.problem.size), trial.rung};
  row.resize(9, "-");
  const Result *single = trial.figure("single"), *sustained = trial.figure("sustained");
  row[8] = "WRONG";
  if (!single) return row;
  const Result& figure = sustained ? *sustained : *single;
  row[2] = time_text(figure.kernel);
  row[3] = time_text(single->kernel);
  if (sustained) row[4] = time_text(sustained->kernel);
  row[5] = rate_text(figure);
  row[6] = share_text(figure);
  const Trial& built_in = swept.trials.front();
  const std::string_view method =
      common_method(std::array{std::cref(trial.results), std::cref(built_in.results)});
  if (const Result* standing = built_in.figure(method))
    row[7] = ratio_text(*standing->kernel / *trial.figure(method)->kernel);
  row[8] = verdict_text(figure);
  if (&trial == &built_in) row[8] += ", built-in";
  if (trial.rung == swept.best) row[8] += ", best";
  return row;
}

}  // namespace

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
                                              "of roof", "vs built-in", "verified"}};
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
  print_table(rows, 2, {"single", "sustained"});
  for (const std::string& line : notes) say("{}", line);
  for (const Swept& swept : all)
    say("{}: {}.", to_string(swept.problem.operation, swept.problem.size), swept.sentence);
  std::fflush(stdout);
}

}  // namespace trine::bench
