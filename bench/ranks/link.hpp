// What the link between ranks does, measured by messages alone.
#pragma once

#include <map>

#include "job.hpp"
#include "model.hpp"

namespace trine::bench::ranks {

struct MeasuredLink {
  Link link;
  std::map<double, double> one_way;     ///< bytes: seconds, between the first two ranks
  std::map<int, double> received_each;  ///< ranks that exchange at once: bytes/s that each receives
  /// A call of all ranks that brings nothing but its first message, by ranks: exact sums of one number each.
  std::map<int, double> first_message;
};

/// Ping-pong between the first two ranks, and an exchange of all with all in each of the groups; of one rank there
/// is no link, and all is 0. The best of `rounds`. Collective over all ranks; the figures are the same on all.
MeasuredLink measure_link(const Job& job, const std::vector<std::unique_ptr<Group>>& groups,
                          int rounds);

}  // namespace trine::bench::ranks
