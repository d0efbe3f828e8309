// The best configuration at a size: what there is to try, which was the fastest, and when that is a gain.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "result.hpp"

namespace trine::bench {

/// Every combination of the rung's parameters, "name:parameter=value,…"; those that `fixed` settles
/// ("tile=16") stand still. Throws Refusal where it names none of the rung's.
std::vector<std::string> configurations(const RungInfo& rung, std::string_view fixed = {});

/// The result that a configuration is compared by: back to back where there is such a figure, else the
/// single launch; nullptr where any of them is wrong or refused.
const Result* figure_of(const std::vector<Result>& results);

/// Whether a call that asks for `asked` may get such a rung without naming it.
bool may_be_chosen(Numerics rung, Numerics asked);

/// Measurements of two configurations in turns, each a round.
struct Rounds {
  std::vector<Result> challenger, standing;

  /// A gain: the challenger's slowest round, its spread added, lies below the fastest of the standing
  /// one, its spread taken off. By chance three rounds each fall so once in twenty.
  bool is_gain() const;
  /// The medians of the rounds.
  double challenger_seconds() const;
  double standing_seconds() const;
};

}  // namespace trine::bench
