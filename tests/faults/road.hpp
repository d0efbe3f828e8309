// A script over the contract that touches most of a backend: two queues, events of both kinds,
// three kinds of memory, a transpose and a sum. Faults are put in its way.
#pragma once

#include <functional>
#include <string>

#include "backends/abi.h"

namespace faults {

struct Road {
  trine_status status = TRINE_OK;
  std::string error;
  std::string wrong;  // what is not as it must be, whatever failed; "" when all is well
};

/// `computes`: whether kernels give results to compare. `heal` is called before the script looks at
/// what a failed call left behind and before its memory goes: nothing may be in flight after it
/// that a lost device's queues would no longer wait for.
Road run_road(const trine_backend& backend, bool computes, const std::function<void()>& heal);

/// Runs the script with each of its calls (or allocations) failing, once and from then on: `arm(n,
/// forever)` sets the fault, `fired()` tells whether it came, `inspect()` names what was not given
/// back. Ends at the first n that doesn't fire. Returns how many faults fired.
struct Faults {
  std::function<void(long n, bool forever)> arm;
  std::function<void()> heal;
  std::function<bool()> fired;
  std::function<std::string()> name;
  std::function<std::string()> inspect;
};
long fail_everywhere(const trine_backend& backend, bool computes, const Faults& faults);

}  // namespace faults
