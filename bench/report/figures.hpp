// The pictures of a report, as data: which curves, bars and points there are. What isn't verified is
// in none of them.
#pragma once

#include "cases.hpp"
#include "model.hpp"

namespace trine::bench::report {

/// Keeps the colour of a device and of a rung the same in all pictures.
struct Palette {
  Slots devices, rungs;
};

/// The rate against the size, the fastest own rung and the fastest peer of every device; break-even
/// points of resident data are marked.
std::vector<Figure> overview(const Document& document, const Group& group, Palette& palette);
/// How much faster than each vendor's rung: on the same device and, for a GPU, on the CPU.
std::vector<Figure> speedups(const Document& document, const Group& group, Palette& palette);
/// The rungs of a device: against the size, or as bars where there is one.
std::vector<Figure> ladder(const Document& document, const Group& group, const std::string& device,
                           Palette& palette);
/// The rate against each parameter that was swept, a curve a size; for threads also against the size, a
/// curve a thread count, with the break-even against the CPU.
std::vector<Figure> parameters(const Document& document, const Group& group,
                               const std::string& device, Palette& palette);
/// Allocation, copies and kernel as stacked bars, at the largest size that all devices share.
std::vector<Figure> phases(const Document& document, const Group& group);
/// One roofline for each host and dtype.
std::vector<Figure> rooflines(const Document& document, const std::vector<Group>& groups,
                              Palette& palette);
std::vector<Figure> timelines(const Document& document);

}  // namespace trine::bench::report
