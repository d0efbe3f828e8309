// Whether place() is right: random cases of a stated range, each measured on every candidate.
#pragma once

#include <string>
#include <vector>

#include "bench/cases/problem.hpp"
#include "bench/ui/control.hpp"

namespace trine::bench {

/// The cases of a check: so many of a seed, each one of `repeats` runs that share the transfers.
struct PlacementCases {
  int count = 200, repeats = 1;
  uint64_t seed = 1;
};
struct PlacementCase {
  Problem problem;
  Where where = Where::host;
  int repeats = 1;
};
/// Case `index`: a pure function of both.
PlacementCase random_case(const PlacementCases& of, uint64_t index);
/// What random_case() draws from, in words.
std::string random_range(int repeats);
std::string to_string(const PlacementCase& which);

struct PlacementOutcome {
  PlacementCase which;
  std::string chosen, fastest;
  std::vector<std::pair<std::string, double>> seconds;    ///< by device, medians
  std::vector<std::pair<std::string, double>> predicted;  ///< by device
  double loss = 0;  ///< the chosen device's time over the fastest one's, less 1
  bool same_bits = true;
};

/// All `cases`, or those before `control` stopped: each on each device in turns, medians of the turns,
/// beside what place() says among `devices`. A single run is the one-line call on host data; one of
/// several is a run on resident data and its share of copying in and out, as Candidate::seconds has it. A CPU
/// that computes in the host's memory copies nothing: there it is the call.
std::vector<PlacementOutcome> check_placement(const std::vector<Device>& devices,
                                              const PlacementCases& cases, Control& control);

/// How many cases each device would have been right for: "Always cpu: 195 of 200. …", and whether one of
/// them does as well as place().
std::string always_text(const std::vector<PlacementOutcome>& outcomes);

/// Prints share and worst cases; whether at least 95 % lie within 5 % of the fastest, and all results
/// have the same bits on every device.
bool report_placement(const std::vector<PlacementOutcome>& outcomes, const PlacementCases& cases);

}  // namespace trine::bench
