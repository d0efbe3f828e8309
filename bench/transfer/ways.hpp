// The ways to get an operation's data to a device and back, measured as one-line calls on host data: every
// pass verified, the median one standing for all.
#pragma once

#include "bench/ui/control.hpp"
#include "timeline.hpp"

namespace trine::bench {

struct Way {
  std::string memory;    ///< "pageable", "pinned", "pipelined" (pinned, too), "shared" (in place)
  int chunks = 0;        ///< pipelined: at most how many strips; 0: as the library cuts
  int64_t cpu_rows = 0;  ///< pipelined: rows that the cpu computes meanwhile, the last ones
};

/// The ways of a device. In place: a CPU that computes in the host's memory. Integrated GPUs share it, but their
/// drivers pin no page twice, as the operands of ordinary vectors would need. What no strips are made of isn't
/// pipelined.
bool in_place(const Device& device);
std::vector<Way> ways_of(const Device& device, Operation operation);

/// How a call goes that way.
void set_way(HostRun& run, const Way& way);

struct MeasuredWay {
  Way way;
  Pass pass;  ///< the median one
  Result result;
  double gain = 0;  ///< with the cpu: how much faster than without, both measured in turns
};

/// How many strips a call was cut into.
int strips_of(const Pass& pass);

struct WaySettings {
  int chunks = 0;            ///< of the pipeline; 0: as the library cuts
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
int64_t balanced_rows(int64_t total, double device, double cpu);

}  // namespace trine::bench
