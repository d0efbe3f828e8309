// A report: its answers and tables; its pictures as data, that is which curves, bars and points
// there are (what isn't verified is in none of them); the whole model, and what that is written as:
// Markdown of its tables, CSV of the results, the page.
#pragma once

#include <ostream>

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

// What pictures of rates are made of.

/// The rungs of a device with figures, in the order of the ladder.
std::vector<std::string> rungs_of(const Group& group, const std::string& device);
std::string size_text(const Group& group, double size);

Axis size_axis(const Group& group);
/// Says by which method the rates are.
Axis rate_axis(const Group& group, Method method, Scale scale = Scale::log);

/// The fastest of the rows wanted at each size, in the colour of their device.
Series envelope(const Group& group, Method method, const std::string& label, const Filter& wanted);
void add_if_any(Figure& figure, Series series);

// The pictures.

/// The rate against the size, the fastest own rung and the fastest peer of every device; break-even
/// points of resident data are marked.
std::vector<Figure> overview(const Runs& runs, const Group& group);
/// How much faster than each vendor's rung: on the same device and, for a GPU, on the CPU.
std::vector<Figure> speedups(const Group& group);
/// The rungs of a device: against the size, or as bars where there is one.
std::vector<Figure> ladder(const Group& group, const std::string& device);
/// The rate against each parameter that was swept, a curve a size; for threads also against the size, a
/// curve a thread count, with the break-even against the CPU.
std::vector<Figure> parameters(const Group& group, const std::string& device);
/// Allocation, copies and kernel as stacked bars, at the largest size that all devices share.
std::vector<Figure> phases(const Group& group);
/// One roofline for each host and dtype.
std::vector<Figure> rooflines(const Runs& runs, const std::vector<Group>& groups);
std::vector<Figure> timelines(const Runs& runs);

// The whole.

Model model_of(const Runs& runs);

/// One row a result, the columns of docs/report.md. Figures that aren't verified are left out.
void write_csv(std::ostream& out, const Runs& runs);
void write_markdown(std::ostream& out, const Model& model);
/// Throws Refusal where this program was built without Chart.js.
std::string page(const Model& model);

}  // namespace trine::bench::report
