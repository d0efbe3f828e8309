// One problem on 1 … n ranks, Trine and its peer in turns, each result verified.
#pragma once

#include "bench/stats/measure.hpp"
#include "bench/ui/control.hpp"
#include "job.hpp"
#include "options.hpp"

namespace trine::bench::ranks {

/// A row of the table. Complete on the first rank of all alone.
struct Row {
  Problem problem;  ///< of a vector a rank: of as many as there are ranks
  int ranks = 1;
  int calls = 1;  ///< in a row, of which a round is the mean
  std::vector<double> rounds, peer_rounds = {};
  std::string failure = {};  ///< Trine's wrong result, or the peer's
  uint64_t digest = 0;

  double best() const { return *std::ranges::min_element(rounds); }
  double median() const { return Samples{rounds}.median(); }
  /// Nothing where there is no peer.
  std::optional<double> peer_best() const {
    return peer_rounds.empty() ? std::nullopt
                               : std::optional(*std::ranges::min_element(peer_rounds));
  }
  bool verified() const { return failure.empty() && !rounds.empty(); }
};

struct Race {
  Problem problem;
  std::vector<Row> rows = {};
};

/// Measures `problem` in each group. Collective over all ranks.
Race race(const Options& options, const Job& job, const Groups& groups, const Problem& problem,
          const std::string& device, Control& control);

}  // namespace trine::bench::ranks
