// The pictures of a report, as data: which curves, bars and points there are. What isn't verified is
// in none of them.
#pragma once

#include "cases.hpp"
#include "model.hpp"

namespace trine::bench::report {

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

}  // namespace trine::bench::report
