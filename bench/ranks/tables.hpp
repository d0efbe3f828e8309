// The report of a run over ranks, to people and as JSON (docs/json.md).
#pragma once

#include <nlohmann/json.hpp>

#include "race.hpp"

namespace trine::bench::ranks {

/// The place of the run: ranks, cores, MPI; the speed of its link; and a race's table.
void print_job(const Options& options, const Job& job, const std::string& device);
void print_link(const MeasuredLink& measured);
void print_race(const Race& race, const Options& options, const Link& link);

/// The model beside what was measured, and what it predicts for a fat tree; as JSON.
nlohmann::ordered_json print_model(const std::vector<Race>& races, const Options& options,
                                   const Job& job, const Link& link);

nlohmann::ordered_json to_json(const Row& row, const Race& race, const Options& options,
                               const Link& link);
nlohmann::ordered_json to_json(const MeasuredLink& measured);

}  // namespace trine::bench::ranks
