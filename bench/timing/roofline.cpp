#include "roofline.hpp"

#include <algorithm>

namespace trine::bench {
namespace {

/// A reduction only reads.
const char* memory_of(const Problem& problem) {
  return problem.operation == Operation::reduce ? "read" : "copy";
}

double least_bytes(const Problem& problem) { return oracle::bytes_moved(plan(problem)); }

bool holds(const nlohmann::ordered_json& roofs, const std::string& device, Dtype dtype) {
  return std::ranges::any_of(roofs, [&](const nlohmann::ordered_json& roof) {
    return roof["device"] == device && roof["dtype"] == name(dtype);
  });
}

}  // namespace

double flops(const Problem& problem) {
  switch (problem.operation) {
    case Operation::reduce: {
      const bool multiplies = problem.map == Map::square || problem.map == Map::product;
      return (multiplies ? 2 : 1) * double(problem.size.rows) * double(problem.size.cols);
    }
    case Operation::gemm: return oracle::flops(plan(problem));
    default: return 0;
  }
}

double intensity(const Problem& problem) {
  const double bytes = least_bytes(problem);
  return bytes > 0 ? flops(problem) / bytes : 0;
}

double Ceilings::at(const Problem& problem) const {
  if (!rated_by_flops(problem)) {
    // In bytes/s; a reduction of so few bytes an element that the arithmetic could bound it is none of
    // ours, but the formula says so too.
    const double per_byte = intensity(problem);
    return per_byte > 0 && arithmetic > 0 ? std::min(bandwidth, arithmetic / per_byte) : bandwidth;
  }
  if (bandwidth == 0 || arithmetic == 0) return 0;
  return std::min(arithmetic, bandwidth * intensity(problem));
}

Ceilings measured_ceilings(const std::vector<DeviceRoof>& roofs, const Problem& problem) {
  Ceilings ceilings;
  if (const DeviceRoof* memory = find(roofs, memory_of(problem)))
    ceilings.bandwidth = memory->value;
  for (const char* unit : {"fma", "tensor"})
    if (const DeviceRoof* units = find(roofs, unit, problem.dtype))
      ceilings.arithmetic = std::max(ceilings.arithmetic, units->value);
  return ceilings;
}

Ceilings nominal_ceilings(const std::vector<DeviceRoof>& roofs, const Problem& problem) {
  Ceilings ceilings;
  if (const DeviceRoof* memory = find(roofs, memory_of(problem)))
    ceilings.bandwidth = memory->nominal.value_or(0);
  if (const DeviceRoof* units = find(roofs, "fma", problem.dtype))
    ceilings.arithmetic = units->nominal.value_or(0);
  return ceilings;
}

void add_arithmetic(const std::vector<Result>& results, nlohmann::ordered_json& roofs) {
  for (const Result& result : results) {
    const Dtype dtype = result.problem.dtype;
    if (!result.verified || flops(result.problem) == 0 || result.device.ends_with("+cpu") ||
        holds(roofs, result.device, dtype))
      continue;
    const Device device = open(result.device);
    for (const char* unit : {"fma", "tensor"})
      if (const std::optional<DeviceRoof> roof = device_roof(device, unit, dtype))
        roofs.push_back(to_json(*roof));
  }
}

}  // namespace trine::bench
