// The best configuration at a size: those to try, the fastest, and when that is a gain.
#pragma once

#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "result.hpp"

namespace trine::bench {

/// Every combination of the rung's parameters, "name:parameter=value,…"; those that `fixed` sets
/// ("tile=16") stand still. Throws Refusal where it names none of the rung's.
std::vector<std::string> configurations(const RungInfo& rung, std::string_view fixed = {});

/// The result by that method, "single" or "sustained"; nullptr where there is none, or any of them
/// is wrong or refused.
const Result* figure_of(const std::vector<Result>& results, std::string_view method);

/// The one by which all of these are compared: back to back where all that are right have such a
/// figure, else the single launch. The two are never mixed.
template <std::ranges::input_range All>
std::string_view common_method(All&& all) {
  for (const std::vector<Result>& results : all)
    if (figure_of(results, "single") && !figure_of(results, "sustained")) return "single";
  return "sustained";
}

/// A row of a table: `head`, then time by `method`, single, sustained, rate by `method`, `ratios`,
/// share of the roof, verdict; "-" for every figure where one is wrong or missing.
std::vector<std::string> line_of(std::vector<std::string> head, const std::vector<Result>& results,
                                 std::string_view method, const std::vector<std::string>& ratios);
/// The columns of such a table that are shown only with --wide.
inline const std::vector<std::string> kWideColumns{"single", "sustained"};

/// Whether a call that asks for `asked` may get such a rung without naming it.
bool may_be_chosen(Numerics rung, Numerics asked);

/// Measurements of two configurations in turns, each a round, by one method.
struct Rounds {
  std::vector<Result> challenger, standing;

  /// A gain: the challenger's slowest round, its spread added, lies below the fastest of the
  /// standing one, its spread taken off. By chance three rounds each fall so once in twenty.
  bool is_gain() const;
  /// The medians of the rounds.
  double challenger_seconds() const;
  double standing_seconds() const;
};

// The findings of `trine sweep` at one size, and the table of them.

/// One configuration at one size.
struct Trial {
  std::string rung;
  std::vector<std::vector<Result>> rounds;
  std::vector<Result> results = combined(rounds);

  /// One round more; the results become those of all.
  void add(std::vector<Result> round);
  const Result* figure(std::string_view method) const { return figure_of(results, method); }
};

/// All of them at one size on one device. The first is the backend's own choice.
struct Swept {
  Problem problem;
  std::vector<Trial> trials;
  std::string best;      ///< the fastest that may be chosen; empty where the work ended before
  std::string sentence;  ///< what came of it
};

void print_sweep(const Device& device, const std::vector<Swept>& all);

}  // namespace trine::bench
