// The work of `trine calibrate` beside measuring: before it keeps times, it checks that the kernels
// which selection chooses give right results; it shows break-evens of every kind of call on every
// pair of devices.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/timing/result.hpp"
#include "bench/ui/control.hpp"

namespace trine::bench {

/// The kinds of call that a calibration tells apart, axes aside.
std::vector<Problem> calibrated_kinds();

/// The calls that a calibration measures: each kind of call, small and large, at sizes as odd as
/// its own.
std::vector<Problem> calibrated_calls();

/// Those rows of the device's tuning table that decide such calls, as the calls that they were
/// measured by.
std::vector<Problem> tuning_keys(const Device& device);

/// A launch or more of each on each device, by the device's own choice or its tuning table's, held
/// against the oracle; and once more on data that no launch has seen, since an answer that is kept
/// has a false time too. A result each, without a figure: refused, verified or wrong. Ends where
/// `control` says so.
std::vector<Result> check_choices(const std::vector<Device>& devices, Control& control);

/// For each function of reduce, dtype and kind of memory that a calibration tells apart.
std::vector<Crossing> all_crossings(const std::vector<Device>& devices);

nlohmann::ordered_json to_json(const Crossing& crossing);

/// One table for each pair of devices.
void print_crossings(const std::vector<Crossing>& crossings);

}  // namespace trine::bench
