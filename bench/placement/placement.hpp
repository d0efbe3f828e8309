// What `trine calibrate` does beside measuring: asks whether what selection chooses gives right
// results, before times are kept; shows break-evens of every kind of call on every pair of devices;
// checks place() by random cases of a stated range, each measured on every candidate.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/timing/result.hpp"
#include "bench/ui/control.hpp"

namespace trine::bench {

/// The kinds of call that a calibration tells apart, axes aside.
std::vector<Problem> calibrated_kinds();

/// What a calibration measures: each kind of call, small and large, at sizes as odd as its own.
std::vector<Problem> calibrated_calls();

/// Those rows of the device's tuning table that decide such calls, as the calls that they were measured by.
std::vector<Problem> tuning_keys(const Device& device);

/// A launch or more of each on each device, by the device's own choice or its tuning table's, held against
/// the oracle; and once more on data that no launch has seen, since an answer that is kept has a false time
/// too. A result each, without a figure: refused, verified or wrong. Ends where `control` says so.
std::vector<Result> check_choices(const std::vector<Device>& devices, Control& control);

/// For each function of reduce, dtype and kind of memory that a calibration tells apart.
std::vector<Crossing> all_crossings(const std::vector<Device>& devices);

nlohmann::ordered_json to_json(const Crossing& crossing);

/// One table for each pair of devices.
void print_crossings(const std::vector<Crossing>& crossings);

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
