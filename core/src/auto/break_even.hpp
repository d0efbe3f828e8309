// Where two curves of times change places.
#pragma once

#include <functional>
#include <vector>

#include "grid.hpp"

namespace trine::detail {

/// At `size` the faster one changes: surely `first` at `low` and below, surely `second` from `high`
/// on, or the other way round.
struct Swap {
  bool first_below = false;
  double size = 0, low = 0, high = 0;
};
struct Swaps {
  std::vector<Swap> all;
  bool first_is_faster = false;  ///< at the largest size at which that is sure, or on the whole
  bool sure = false;             ///< one of them is surely faster at some size
};

/// Of sizes 1 to `limit`. Where the intervals of the two overlap, neither is surely faster; a change
/// counts only from one that is to the other that is, so that equal devices don't swap at every size.
Swaps find_swaps(const std::function<Estimate(double)>& first,
                 const std::function<Estimate(double)>& second, double limit);

}  // namespace trine::detail
