#include "curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trine::bench::report {

std::string device_of(const Document& document, const Row& row) {
  return document.device(row.any().host, row.any().device);
}

Axis size_axis(const Group& group) { return {group.axis_title(), "", Scale::log2}; }

Axis rate_axis(const Group& group, Method method, Scale scale) {
  const char* what = group.unit == "B/s" ? "effective bandwidth" : "performance";
  return {fmt::format("{}, {}", what, name(method)), group.unit, scale};
}

Series envelope(const Group& group, Method method, const std::string& label, int slot,
                const Wanted& wanted) {
  Series series{.label = label, .slot = slot};
  for (double size : sizes(group, wanted))
    if (const Entry* e = best(group, method,
                              [&](const Row& r) { return group.x(r.any()) == size && wanted(r); }))
      series.data.push_back({size, e->rate.value, e->variant()});
  return series;
}

void add_if_any(Figure& figure, Series series) {
  if (!series.data.empty()) figure.series.push_back(std::move(series));
}

std::vector<std::string> rungs_of(const Document& document, const Group& group,
                                  const std::string& device) {
  std::vector<const Entry*> all;
  for (const Row& row : group.rows)
    if (row.good() && device_of(document, row) == device) all.push_back(&row.any());
  std::stable_sort(all.begin(), all.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->vendor, a->rung_index) < std::pair(b->vendor, b->rung_index);
  });
  std::vector<std::string> names;
  for (const Entry* e : all)
    if (std::find(names.begin(), names.end(), e->rung) == names.end()) names.push_back(e->rung);
  return names;
}

std::string size_text(const Group& group, double size) {
  for (const Row& row : group.rows)
    if (group.x(row.any()) == size) return row.any().size();
  return fmt::format("{:g}", size);
}

}  // namespace trine::bench::report
