// Rounds: the same cases measured again and again, each time in fresh memory, with all the others between.
// What memory a run happens to get, and what else the machine does meanwhile, then shows in the figures.
#pragma once

#include <vector>

#include "result.hpp"

namespace trine::bench {

/// The results of one problem, a list a round, as one list: medians of the rounds, each round's own in
/// `rounds`, the interval from them; right where every round was right.
std::vector<Result> combined(const std::vector<std::vector<Result>>& rounds);

}  // namespace trine::bench
