// The roofline: what a rung can reach at best, given how much it computes for each byte that it
// must move. Williams, Waterman, Patterson, Roofline: an insightful visual performance model, CACM
// 52(4), 2009.
#pragma once

#include "bench/roofs/device_roofs.hpp"
#include "result.hpp"

namespace trine::bench {

/// Operations that count (Description::flops), and how many for each byte that must move at least.
double flops(const Problem& problem);
double intensity(const Problem& problem);

/// Where the memory's slope meets the arithmetic's ceiling; 0 where either is unknown.
struct Ceilings {
  double bandwidth = 0, arithmetic = 0;  ///< bytes/s, flop/s
  double ridge() const { return bandwidth > 0 ? arithmetic / bandwidth : 0; }
  /// The rate, in the problem's own unit, that is the most at its intensity; 0 when unknown.
  double at(const Problem& problem) const;
};

/// For a dtype, as measured (arithmetic of the best units) and as the data sheet says.
Ceilings measured_ceilings(const std::vector<DeviceRoof>& roofs, const Problem& problem);
Ceilings nominal_ceilings(const std::vector<DeviceRoof>& roofs, const Problem& problem);

/// Adds the arithmetic's roofs that `roofs` doesn't hold yet, for the dtypes that `results` have on
/// each device: a reduction's or transpose's results bring the memory's alone, and a page draws
/// both. None where the work ended early.
void add_arithmetic(const std::vector<Result>& results, nlohmann::ordered_json& roofs);

}  // namespace trine::bench
