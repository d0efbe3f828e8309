// The modes of getting an operation's data to a device and back, measured as one-line calls on host
// data: every pass verified, the median one standing for all.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/timing/host_run.hpp"
#include "bench/timing/side_by_side.hpp"

namespace trine::bench {

struct TransferMode {
  std::string memory;    ///< "pageable", "pinned", "pipelined" (pinned, too), "shared" (in place)
  int chunks = 0;        ///< pipelined: at most how many chunks; 0: as the library cuts
  int64_t cpu_rows = 0;  ///< pipelined: rows that the cpu computes meanwhile, the last ones
};

/// The modes of a device. In place: a CPU that computes in the host's memory. Integrated GPUs share
/// it, but their drivers pin no page twice, as the operands of ordinary vectors would need.
/// Operations that aren't cut into chunks aren't pipelined.
bool in_place(const Device& device);
std::vector<TransferMode> modes_of(const Device& device, Operation operation);

/// Sets `run` up for a mode.
void set_mode(HostRun& run, const TransferMode& mode);

struct MeasuredMode {
  TransferMode mode;
  Pass pass;  ///< the median one
  Result result;
  double gain = 0;  ///< with the cpu: how much faster than without
  double cpu_share() const { return double(mode.cpu_rows) / double(result.problem.size.rows); }
};

/// How many chunks a call was cut into.
int chunks_of(const Pass& pass);

// Overlaps: one span for each chunk in each lane of a call.

std::string_view name(Lane lane);  ///< "copy in", "kernel", "copy out", "cpu"

/// Seconds in which at least two lanes were busy at once.
double overlapped(const std::vector<Span>& spans);
/// Empty, or in words what no pass can show: a span that ends before it begins, lies outside of
/// the pass, or overlaps another of its lane.
std::string impossible(const Pass& pass);

/// A line for each lane that was used, `width` columns long; a chunk is drawn as its number's last
/// digit.
std::vector<std::string> picture(const Pass& pass, int width);

struct ModeSettings {
  int chunks = 0;            ///< of the pipeline; 0: as the library cuts
  bool overlap_cpu = false;  ///< with the cpu working meanwhile, too
  double budget = 0.05;      ///< least measuring time of a figure in seconds
};

/// All modes of the device, in the order of modes_of(); what `control` ends early is left out.
std::vector<MeasuredMode> measure_modes(const ModeSettings& settings, const Device& device,
                                        const Problem& problem, const Expected& expectation,
                                        Control& control);

/// A timeline. `share`: the time of the slowest lane alone, over that of the call; left out where
/// the cpu takes a share of the rows.
nlohmann::ordered_json to_json(const MeasuredMode& measured, double share);

/// The rows for the cpu with which both should end at once, going by what each would take for all.
int64_t balanced_rows(int64_t total, double device, double cpu);

}  // namespace trine::bench
