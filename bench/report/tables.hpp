// The tables of a report.
#pragma once

#include "cases.hpp"
#include "model.hpp"

namespace trine::bench::report {

Table hosts_table(const Document& document);
Table devices_table(const Document& document);
/// What failed its verification: named, and nowhere else a figure.
Table failures_table(const Document& document);
Table refusals_table(const Document& document);

/// Sizes down, devices of all hosts across: the rate of the fastest own rung.
Table side_by_side_table(const Document& document, const Group& group);
/// Every rung of a device at every size, with its step.
Table ladder_table(const Document& document, const Group& group, const std::string& device);
/// The whole program by phases.
Table phases_table(const Document& document, const Group& group);

Table roofs_table(const Document& document);
Table crossings_table(const Document& document);
Table sweeps_table(const Document& document);
Table timelines_table(const Document& document);
std::vector<Table> published_tables(const Document& document);

}  // namespace trine::bench::report
