// What a run over ranks says, to people and as JSON (docs/json.md).
#pragma once

#include <nlohmann/json.hpp>

#include "link.hpp"
#include "race.hpp"

namespace trine::bench::ranks {

/// Where the run is: ranks, cores, MPI, ScaLAPACK; and what its link does.
void print_job(const Options& options, const Job& job, const std::string& device,
               const std::string& scalapack);
void print_link(const MeasuredLink& measured, const Job& job);
void print_race(const Race& race, const Options& options, const Link& link);

/// The model beside what was measured, what it assumes, and what it predicts for a fat tree.
void print_model(const std::vector<Race>& races, const Options& options, const Link& link);

nlohmann::ordered_json to_json(const Race& race, const Options& options, const Link& link);
nlohmann::ordered_json to_json(const MeasuredLink& measured);
nlohmann::ordered_json model_json(const std::vector<Race>& races, const Options& options,
                                  const Link& link);

}  // namespace trine::bench::ranks
