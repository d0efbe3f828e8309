// The ladders: every rung of an operation in its order, and the source documents' tables again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "documents.hpp"
#include "side_by_side.hpp"

namespace trine::bench {

/// What every table of a ladder is measured with.
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

 private:
  /// The rungs of a line share their data and its reference: making them anew takes longer than the rung.
  Expectation& expect(const Problem& problem);
  uint64_t seed_;
  std::string expected_;  ///< the problem, in words
  std::optional<Expectation> expectation_;
};

/// The rungs of a device's ladder in their order, peers last where `peers` is set.
std::vector<std::string> ladder_of(const Device& device, Operation operation, bool peers);

/// Measures and prints one ladder: rung, time, rate, step and cumulative speed-up, share of the roof.
void climb(LadderRun& run, Runner& runner, const Problem& problem,
           const std::vector<std::string>& rungs);

/// Measures and prints a document's tables of these operations on one device, published figures beside
/// today's.
void reproduce(LadderRun& run, const Device& device, const SourceDocument& document,
               const std::vector<Operation>& operations);

/// Measures and prints how the pattern of access decides the bandwidth: strides and offsets, padding of
/// tiles, reuse by tile width, structures of arrays against arrays of structures.
void show_access(LadderRun& run, const Device& device);

}  // namespace trine::bench
