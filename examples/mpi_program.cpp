// An array that is distributed over ranks: its sum and norm have the same bits on any number of
// ranks.
//   mpirun -n 4 mpi_program
#include <trine/mpi.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> part;  // every ranks-th of the terms 1, 1/2, 1/3, …
  for (int i = 1 + rank; i <= 100000; i += ranks) part.push_back(1.0 / i);
  const double total = trine::mpi::sum(part, MPI_COMM_WORLD);  // exact, rounded once, on all ranks
  const double norm = std::sqrt(trine::mpi::dot(part, part, MPI_COMM_WORLD));
  if (rank == 0) std::printf("%.17g %.17g\n", total, norm);
  MPI_Finalize();
}
