// The options of `trine ranks`, which the program reads twice: to refuse them, and, over MPI, to do what they say.
#pragma once

#include "bench/cases/cases.hpp"

namespace trine::bench::ranks {

struct Options {
  std::vector<std::string> operations, dtypes, sizes, axes;
  Measuring measuring;
  int rounds = 9;
  int64_t block = 64;  ///< rows and columns of a matrix's block
  bool model = false;
  bool resident = false;  ///< on the devices; the peer is the same call on host data
};

void add_options(CLI::App& app, Options& options);

/// The cases named, of the whole array or matrix; of a vector a rank, of one rank's.
std::vector<Problem> problems_of(const Options& options);

}  // namespace trine::bench::ranks
