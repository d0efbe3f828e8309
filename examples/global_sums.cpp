// The means of many fields over an ocean, weighted by the areas of its cells: one call and one
// message for all sums, whose bits are the same on any number of ranks.
//   mpirun -n 4 global_sums
#include <trine/mpi_sums.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  constexpr int kFields = 20, kCells = 10000;
  const int mine = (kCells - rank + ranks - 1) / ranks;  // every ranks-th cell
  std::vector<double> values(kFields * mine), areas(mine), ones(mine, 1.0);
  std::vector<char> is_ocean(mine);
  for (int i = 0; i < mine; ++i) {
    const double cell = rank + i * ranks;
    areas[i] = 1 + std::fabs(std::cos(cell));
    is_ocean[i] = std::fmod(cell, 7) != 0;
    for (int field = 0; field < kFields; ++field)
      values[field * mine + i] = is_ocean[i] ? std::sin(cell * (field + 1)) : NAN;  // no land
  }

  using trine::mpi::fields;  // views of one array with a field after another, and of single ones
  const auto weights = fields(areas.data(), mine), mask = fields(is_ocean.data(), mine);
  const std::vector<trine::mpi::Fields> all = {
      {.values = fields(values.data(), mine, kFields), .weights = weights, .mask = mask},
      {.values = fields(ones.data(), mine), .weights = weights, .mask = mask}};  // the ocean's area
  std::vector<double> sums(kFields + 1);
  trine::mpi::sums(all, sums, MPI_COMM_WORLD);
  if (rank == 0)
    for (int field = 0; field < kFields; ++field)
      std::printf("%2d %.17g\n", field, sums[field] / sums[kFields]);
  MPI_Finalize();
}
