// The ways to get an operation's data to a device and back, measured: every pass verified, the median one
// standing for all.
#pragma once

#include "bench/timing/result.hpp"
#include "bench/ui/control.hpp"
#include "pipeline.hpp"

namespace trine::bench {

struct MeasuredWay {
  Way way;
  Pass pass;  ///< the median one
  Result result;
  double gain = 0;  ///< with the cpu: how much faster than without, both measured in turns
};

struct WaySettings {
  int chunks = 0;            ///< of the pipeline; 0: of 2, 4 … 32 those with the fastest pass
  bool overlap_cpu = false;  ///< with the cpu working meanwhile, too
  double budget = 0.05;      ///< least measuring time of a figure in seconds
};

/// All ways of the device, in the order of ways_of(); what `control` ends early is left out.
std::vector<MeasuredWay> measure_ways(const WaySettings& settings, const Device& device,
                                      const Problem& problem, Expectation& expectation,
                                      Control& control);

/// `alone`: what the slowest lane takes for all rows when nothing overlaps it.
Timeline timeline_of(const MeasuredWay& measured, double alone);

/// The rows for the cpu with which both should end at once, going by what each would take for all.
int64_t balanced_rows(const Problem& problem, int chunks, double device, double cpu);

}  // namespace trine::bench
