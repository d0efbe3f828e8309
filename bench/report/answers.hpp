// What a report opens with: where to run an operation, from which size on, and how near that comes to what
// is possible.
#pragma once

#include "cases.hpp"
#include "model.hpp"

namespace trine::bench::report {

/// Where `trine calibrate` measured, submit to wait, its break-even points; else `trine compare`'s words, from the
/// same figures. Then the fastest rung at the largest size. A sentence of each for every host.
std::string answer(const Runs& runs, const Group& group);

/// Of the groups of each operation the one that most devices have at most sizes: the chart of the first screen.
std::vector<const Group*> leading(const std::vector<Group>& groups);

}  // namespace trine::bench::report
