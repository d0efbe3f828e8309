// The cost of global sums of fields: trine::mpi::sums beside plain sums with one MPI_Allreduce, and
// beside the integer vectors of P. Worley's reprosum (A. Mirin, P. Worley, "Improving the
// performance scalability of the community atmosphere model", IJHPCA 26(1), 2012), written from the
// idea. In turns; the best of the rounds, in microseconds of the slowest rank.
//
//   mpirun -n 4 mpi_cost [ROUNDS]
#include <trine/mpi_sums.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace {

struct Fields {
  int64_t count, length;
  std::vector<double> values, sums;
  const double* at(int64_t i) const { return values.data() + i * length; }
};

/// Eight sums side by side, as a compiler makes them that may reorder.
double plain_sum(const double* x, int64_t length) {
  double sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= length; i += 8)
    for (int k = 0; k < 8; ++k) sums[k] += x[i + k];
  for (; i < length; ++i) sums[0] += x[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void plain(Fields& f) {
  for (int64_t i = 0; i < f.count; ++i) f.sums[size_t(i)] = plain_sum(f.at(i), f.length);
  MPI_Allreduce(MPI_IN_PLACE, f.sums.data(), int(f.count), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void exact(Fields& f) {
  trine::mpi::sums(
      trine::mpi::Fields{.values = trine::mpi::fields(f.values.data(), f.length, f.count)}, f.sums,
      MPI_COMM_WORLD);
}

/// A first message finds the largest exponent of each field; each value is then cut into integers
/// of so many bits that the sum of all ranks' fits, and a second message adds these.
void integer_vectors(Fields& f) {
  constexpr int kLevels = 4, kBits = 40;  // 2^23 values of any sign
  const auto count = size_t(f.count);
  std::vector<int> exponents(count);
  for (size_t i = 0; i < count; ++i) {
    double most = 0;
    for (int64_t j = 0; j < f.length; ++j) most = std::max(most, std::abs(f.at(int64_t(i))[j]));
    std::frexp(most, &exponents[i]);
  }
  MPI_Allreduce(MPI_IN_PLACE, exponents.data(), int(count), MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  std::vector<int64_t> levels(count * kLevels);
  for (size_t i = 0; i < count; ++i) {
    const double first = std::ldexp(1.0, kBits - exponents[i]);
    for (int64_t j = 0; j < f.length; ++j) {
      double rest = f.at(int64_t(i))[j] * first;
      for (int level = 0; level < kLevels && rest != 0; ++level) {
        const auto whole = int64_t(rest);
        levels[i * kLevels + size_t(level)] += whole;
        rest = (rest - double(whole)) * double(int64_t{1} << kBits);
      }
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, levels.data(), int(levels.size()), MPI_INT64_T, MPI_SUM,
                MPI_COMM_WORLD);
  for (size_t i = 0; i < count; ++i) {
    f.sums[i] = 0;
    for (int level = kLevels; level-- > 0;)
      f.sums[i] += std::ldexp(double(levels[i * kLevels + size_t(level)]),
                              exponents[i] - kBits * (level + 1));
  }
}

/// Seconds of a call on the slowest rank, over as many calls as take about 2 ms.
double seconds(const std::function<void(Fields&)>& call, Fields& fields, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call(fields);
  double took = (MPI_Wtime() - start) / calls;
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return took;
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int rounds = count > 1 ? std::atoi(words[1]) : 25;
  const std::function<void(Fields&)> calls[] = {plain, exact, integer_vectors};
  if (rank == 0) std::printf("fields of     plain     trine         integer vectors\n");
  for (const auto& [fields, length] :
       {std::pair<int64_t, int64_t>{1, 10}, {100, 10}, {1, 10'000}, {100, 10'000}}) {
    Fields f = {fields, length, std::vector<double>(size_t(fields * length)),
                std::vector<double>(size_t(fields))};
    for (size_t i = 0; i < f.values.size(); ++i) f.values[i] = std::sin(double(i) + rank);
    double best[] = {INFINITY, INFINITY, INFINITY};
    for (int round = 0; round < rounds; ++round)
      for (size_t k = 0; k < 3; ++k)
        best[k] = std::min(best[k], seconds(calls[k], f, fields * length > 100'000 ? 4 : 100));
    if (rank == 0)
      std::printf("%4d %6d %9.1f %9.1f (%.2f) %9.1f (%.2f)\n", int(fields), int(length),
                  best[0] * 1e6, best[1] * 1e6, best[1] / best[0], best[2] * 1e6,
                  best[2] / best[0]);
  }
  MPI_Finalize();
}
