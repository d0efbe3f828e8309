#include "roofline.hpp"

#include <algorithm>

#include "bench/cases/operations.hpp"

namespace trine::bench {
namespace {

bool holds(const nlohmann::ordered_json& roofs, const std::string& device, Dtype dtype) {
  return std::ranges::any_of(roofs, [&](const nlohmann::ordered_json& roof) {
    return roof["device"] == device && roof["dtype"] == name(dtype);
  });
}

/// The arithmetic of the best units.
template <class ValueOf>
Ceilings ceilings(const std::vector<DeviceRoof>& roofs, const Problem& problem, ValueOf value_of) {
  Ceilings found;
  if (const DeviceRoof* memory = find(roofs, describe(problem.operation).memory_roof))
    found.bandwidth = value_of(*memory);
  for (const char* unit : {"fma", "tensor"})
    if (const DeviceRoof* units = find(roofs, unit, problem.dtype))
      found.arithmetic = std::max(found.arithmetic, value_of(*units));
  return found;
}

}  // namespace

double flops(const Problem& problem) { return describe(problem.operation).flops(problem); }

double intensity(const Problem& problem) {
  const double bytes = oracle::bytes_moved(plan(problem));
  return bytes > 0 ? flops(problem) / bytes : 0;
}

double Ceilings::at(const Problem& problem) const {
  if (!rated_by_flops(problem)) {
    // In bytes/s; a reduction of so few bytes an element that the arithmetic could bound it is none
    // of ours, but the formula says so too.
    const double per_byte = intensity(problem);
    return per_byte > 0 && arithmetic > 0 ? std::min(bandwidth, arithmetic / per_byte) : bandwidth;
  }
  if (bandwidth == 0 || arithmetic == 0) return 0;
  return std::min(arithmetic, bandwidth * intensity(problem));
}

Ceilings measured_ceilings(const std::vector<DeviceRoof>& roofs, const Problem& problem) {
  return ceilings(roofs, problem, [](const DeviceRoof& roof) { return roof.value; });
}

Ceilings nominal_ceilings(const std::vector<DeviceRoof>& roofs, const Problem& problem) {
  return ceilings(roofs, problem, [](const DeviceRoof& roof) { return roof.nominal.value_or(0); });
}

void add_arithmetic(const std::vector<Result>& results, nlohmann::ordered_json& roofs) {
  for (const Result& result : results) {
    const Dtype dtype = result.problem.dtype;
    if (!result.verified || flops(result.problem) == 0 || result.device.ends_with("+cpu") ||
        holds(roofs, result.device, dtype))
      continue;
    const Device device = open(result.device);
    for (const char* unit : {"fma", "tensor"})
      if (const std::optional<DeviceRoof> roof = roof_in_a_step(device, unit, dtype))
        roofs.push_back(to_json(*roof));
  }
}

}  // namespace trine::bench
