// Break-evens of every kind of call on every pair of devices: as tables and as JSON.
#pragma once

#include <trine/trine.hpp>

#include <nlohmann/json.hpp>
#include <vector>

namespace trine::bench {

/// For each function of reduce, dtype and kind of memory that a calibration tells apart.
std::vector<Crossing> all_crossings(const std::vector<Device>& devices);

nlohmann::ordered_json to_json(const Crossing& crossing);

/// One table for each pair of devices.
void print_crossings(const std::vector<Crossing>& crossings);

}  // namespace trine::bench
