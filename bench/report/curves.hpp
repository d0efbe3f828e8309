// What pictures of rates are made of: curves, their axes and names.
#pragma once

#include "cases.hpp"
#include "model.hpp"

namespace trine::bench::report {

std::string device_of(const Document& document, const Row& row);
/// The rungs of a device with figures, in the order of the ladder.
std::vector<std::string> rungs_of(const Document& document, const Group& group,
                                  const std::string& device);
std::string size_text(const Group& group, double size);

Axis size_axis(const Group& group);
/// Says by which method the rates are.
Axis rate_axis(const Group& group, Method method, Scale scale = Scale::log);

/// The fastest of the rows wanted at each size.
Series envelope(const Group& group, Method method, const std::string& label, int slot,
                const Wanted& wanted);
void add_if_any(Figure& figure, Series series);

}  // namespace trine::bench::report
