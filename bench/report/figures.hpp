// The pictures of a report, as data: which curves, bars and points there are. What isn't verified is
// in none of them.
#pragma once

#include "cases.hpp"
#include "model.hpp"

namespace trine::bench::report {

/// Keeps the colour of a device and of a rung the same in all pictures: each has the place of its name.
struct Palette {
  std::vector<std::string> devices, rungs;
};

// What pictures of rates are made of.

std::string device_of(const Runs& runs, const Row& row);
/// The rungs of a device with figures, in the order of the ladder.
std::vector<std::string> rungs_of(const Runs& runs, const Group& group, const std::string& device);
std::string size_text(const Group& group, double size);

Axis size_axis(const Group& group);
/// Says by which method the rates are.
Axis rate_axis(const Group& group, Method method, Scale scale = Scale::log);

/// The fastest of the rows wanted at each size.
Series envelope(const Group& group, Method method, const std::string& label, int slot,
                const Filter& wanted);
void add_if_any(Figure& figure, Series series);

// The pictures.

/// The rate against the size, the fastest own rung and the fastest peer of every device; break-even
/// points of resident data are marked.
std::vector<Figure> overview(const Runs& runs, const Group& group, Palette& palette);
/// How much faster than each vendor's rung: on the same device and, for a GPU, on the CPU.
std::vector<Figure> speedups(const Runs& runs, const Group& group, Palette& palette);
/// The rungs of a device: against the size, or as bars where there is one.
std::vector<Figure> ladder(const Runs& runs, const Group& group, const std::string& device,
                           Palette& palette);
/// The rate against each parameter that was swept, a curve a size; for threads also against the size, a
/// curve a thread count, with the break-even against the CPU.
std::vector<Figure> parameters(const Runs& runs, const Group& group, const std::string& device,
                               Palette& palette);
/// Allocation, copies and kernel as stacked bars, at the largest size that all devices share.
std::vector<Figure> phases(const Runs& runs, const Group& group);
/// One roofline for each host and dtype.
std::vector<Figure> rooflines(const Runs& runs, const std::vector<Group>& groups, Palette& palette);
std::vector<Figure> timelines(const Runs& runs);

}  // namespace trine::bench::report
