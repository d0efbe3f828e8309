// What the parts of mpi_ratios share.
#pragma once

#include <algorithm>
#include <cmath>

#include "ranks.hpp"

namespace ratios {

struct Best {
  double seconds = INFINITY;

  /// A round of `calls` calls, of which each rank has taken part when the clock is read.
  template <class Call>
  void time(int calls, Call&& call) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call();
    double taken = (MPI_Wtime() - begin) / calls;
    MPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    seconds = std::min(seconds, taken);
  }
};

/// Before the first call of Trine.
void begin_matrices();
/// Prints the times of products and transposes of extent x extent doubles; whether all results are right.
bool compare_matrices(int64_t extent, int rounds);

}  // namespace ratios
