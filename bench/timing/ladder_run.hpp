// What every table of a ladder is measured with: one rung after the other, each held against the oracle
// and against the bits of all before it, before a line of it is printed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "side_by_side.hpp"

namespace trine::bench {

class LadderRun {
 public:
  LadderRun(Control& of_run, double min_time, uint64_t seed)
      : control(of_run), budget(min_time), seed_(seed) {}

  Control& control;
  const double budget;
  Document document = {.command = "ladder"};
  bool sampled = false;  ///< whether a gemm was too large to check every element by the oracle

  /// Measures, keeps in the document and returns the results of one rung: refused ones too.
  std::vector<Result> measure(Runner& runner, const Problem& problem, const std::string& rung,
                              bool whole = false);

  /// Fails what has other bits than its problem had before; keeps and returns the results as they then are.
  std::vector<Result> keep(std::vector<Result> results);

 private:
  /// The rungs of a line share their data and its reference: making them anew takes longer than the rung.
  Expectation& expect(const Problem& problem);
  uint64_t seed_;
  std::string expected_;  ///< the problem, in words
  std::optional<Expectation> expectation_;
  Digests digests_;
};

}  // namespace trine::bench
