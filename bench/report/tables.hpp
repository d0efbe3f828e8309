// The answers and the tables of a report.
#pragma once

#include "cases.hpp"
#include "model.hpp"

namespace trine::bench::report {

/// Where `trine calibrate` measured, submit to wait, its break-even points; else `trine compare`'s words, from the
/// same figures. Then the fastest rung at the largest size. A sentence of each for every host.
std::string answer(const Runs& runs, const Group& group);

Table hosts_table(const Runs& runs);
Table devices_table(const Runs& runs);
/// What failed its verification, named, and nowhere else a figure; or what refused.
Table unverified_table(const Runs& runs, bool skipped);

/// Sizes down, devices of all hosts across: the rate of the fastest own rung.
Table side_by_side_table(const Group& group);
/// Every rung of a device at every size, with its step.
Table ladder_table(const Group& group, const std::string& device);
/// The whole program by phases.
Table phases_table(const Group& group);

Table roofs_table(const Runs& runs);
Table crossings_table(const Runs& runs);
Table sweeps_table(const Runs& runs);
Table timelines_table(const Runs& runs);
std::vector<Table> published_tables(const Runs& runs);

}  // namespace trine::bench::report
