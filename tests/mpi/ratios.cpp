// Prints how long an exact elementwise allreduce takes beside MPI's own in the same run: one scalar, and vectors; or with
// EXTENT, products and transposes of matrices beside others' (matrix_ratios.cpp).
//   mpi_ratios [ROUNDS [EXTENT]]
// All alternate; a round's time is that of the slowest rank, the figure is the best round's. Each result is
// checked: the exact sum has one value, MPI's must be near it. Exit code 1 where one is wrong.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "ratios.hpp"

namespace {

using namespace ranks;
using ratios::Best;

std::vector<double> of_rank(int rank, int64_t length) {
  return make<double>(Values::like, uint64_t(rank), length);
}

/// Whether the exact sums are the device's, and MPI's near them.
bool is_right(const std::vector<double>& exact, const std::vector<double>& plain) {
  bool right = true;
  for (int64_t i = 0; i < int64_t(exact.size());
       i += std::max<int64_t>(1, int64_t(exact.size()) / 1000)) {
    std::vector<double> column;
    column.reserve(size_t(size()));
    for (int other = 0; other < size(); ++other)
      column.push_back(value_at<double>(Values::like, uint64_t(other), uint64_t(i)));
    right = right && exact[size_t(i)] == trine::sum(column, {.device = "cpu"}) &&
            std::abs(plain[size_t(i)] - exact[size_t(i)]) < 1e-12;
  }
  return all(right);
}

bool compare(int64_t length, int rounds, int calls) {
  const std::vector<double> input = of_rank(rank(), length);
  std::vector<double> plain(input.size()), exact(input.size());
  Best of_mpi, of_trine;
  for (int round = 0; round < rounds; ++round) {
    of_mpi.time(calls, [&] {
      MPI_Allreduce(input.data(), plain.data(), int(length), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    });
    of_trine.time(calls, [&] {
      trine::mpi::allreduce(trine::Function::sum, input, exact, MPI_COMM_WORLD, {.device = "cpu"});
    });
  }
  const bool right = is_right(exact, plain);
  if (rank() == 0)
    std::printf("%8lld f64, %d ranks: MPI_Allreduce %10.2f us, exact %10.2f us, ratio %.2f%s\n",
                static_cast<long long>(length), size(), of_mpi.seconds * 1e6,
                of_trine.seconds * 1e6, of_trine.seconds / of_mpi.seconds, right ? "" : ", WRONG");
  return right;
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  const int rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 30;
  const int64_t extent = count > 2 ? std::atoi(arguments[2]) : 0;
  if (extent > 0) ratios::begin_matrices();
  bool right = extent <= 0 || ratios::compare_matrices(extent, rounds);
  for (const int64_t length : {int64_t{1}, int64_t{1} << 10, int64_t{1} << 20})
    right = extent > 0 ? right : compare(length, rounds, length < 1 << 16 ? 100 : 1) && right;
  MPI_Finalize();
  return right ? 0 : 1;
}
