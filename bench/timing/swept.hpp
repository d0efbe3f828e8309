// What `trine sweep` found out at one size, and the table of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "best.hpp"
#include "rounds.hpp"

namespace trine::bench {

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
