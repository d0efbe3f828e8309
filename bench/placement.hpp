// Whether place() is right: random cases of a stated range, each measured on every candidate.
#pragma once

#include <string>
#include <vector>

#include "control.hpp"
#include "problem.hpp"

namespace trine::bench {

struct PlacementCase {
  Problem problem;
  Where where = Where::host;
};
/// Case `index` of `seed`: a pure function of both.
PlacementCase random_case(uint64_t seed, uint64_t index);
/// What random_case() draws from, in words.
const char* random_range();
std::string to_string(const PlacementCase& which);

struct PlacementOutcome {
  PlacementCase which;
  std::string chosen, fastest;
  std::vector<std::pair<std::string, double>> seconds;    ///< by device, medians
  std::vector<std::pair<std::string, double>> predicted;  ///< by device
  double loss = 0;  ///< the chosen device's time over the fastest one's, less 1
  bool same_bits = true;
};

/// Cases 0 to `count` of `seed`, or those before `control` stopped: each as the one-line call on host
/// data on each device in turns, medians of the turns, beside what place() says among `devices`.
std::vector<PlacementOutcome> check_placement(const std::vector<Device>& devices, int count,
                                              uint64_t seed, Control& control);

/// Prints share and worst cases; whether at least 95 % lie within 5 % of the fastest, and all results
/// have the same bits on every device.
bool report_placement(const std::vector<PlacementOutcome>& outcomes, uint64_t seed);

}  // namespace trine::bench
