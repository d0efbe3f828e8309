// The options of `trine ranks`, which two programs read: trine refuses wrong ones, and trine-ranks,
// started by MPI, does what they say.
#pragma once

#include "bench/cases/cases.hpp"

namespace trine::bench::ranks {

struct Options {
  std::vector<std::string> operations, dtypes, sizes, axes, numerics;
  Measuring measuring;
  int rounds = 9;
  int64_t block = 64;  ///< rows and columns of a matrix's block
  bool model = false;
};

void add_options(CLI::App& app, Options& options);

/// The cases named: an array or a matrix as a whole; of vectors, one a rank, that of one rank.
std::vector<Problem> problems_of(const Options& options);

}  // namespace trine::bench::ranks
