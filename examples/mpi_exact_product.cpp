// A product of matrices that are distributed over ranks, each element rounded once: it has one
// digest on any number of ranks, which is that of every device alone.
//
//   mpirun -n 4 mpi_exact_product [DEVICE]     the ranks' device: "cpu", "cuda"
#include <trine/mpi_matrix.hpp>

#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using trine::mpi::Distribution;
constexpr int64_t kRows = 120, kCols = 90, kDepth = 400;

/// SplitMix64 (Steele, Lea, Flood 2014).
uint64_t mixed(uint64_t z) {
  z += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}
/// Numbers of all sizes from 2^-40 to 2^40; neighbours along k differ in their last bits.
double element(int64_t row, int64_t k) {
  const uint64_t bits = mixed(mixed(uint64_t(row)) + uint64_t(k / 2));
  return std::ldexp(double(bits >> 12) + double(k % 2), int(bits % 80) - 92);
}
/// In a they have opposite signs, so that most of a sum cancels.
double of_a(int64_t i, int64_t k) { return k % 2 == 0 ? element(i, k) : -element(i, k); }
double of_b(int64_t k, int64_t j) { return element(1000 + j, k); }

/// Calls visit(i, j) for the elements that a rank has, column by column.
template <class Visit>
void for_each(const Distribution& d, int rank, Visit visit) {
  const auto is_here = [](int64_t at, int64_t block, int process, int processes) {
    return at / block % processes == process;
  };
  for (int64_t j = 0; j < d.cols; ++j)
    for (int64_t i = 0; i < d.rows; ++i)
      if (is_here(i, d.block_rows, d.grid_row(rank), d.grid_rows) &&
          is_here(j, d.block_cols, d.grid_col(rank), d.grid_cols))
        visit(i, j);
}
std::vector<double> part(const Distribution& d, int rank, double (*value)(int64_t, int64_t)) {
  std::vector<double> elements;
  for_each(d, rank, [&](int64_t i, int64_t j) { elements.push_back(value(i, j)); });
  return elements;
}
/// It sums up modulo 2^64, so parts may be added in any order.
uint64_t digest(const Distribution& d, int rank, const std::vector<double>& elements) {
  uint64_t sum = 0;
  const double* next = elements.data();
  for_each(d, rank, [&](int64_t i, int64_t j) {
    sum += mixed(uint64_t(i * kCols + j) + mixed(std::bit_cast<uint64_t>(*next++)));
  });
  return sum;
}

trine::HostOptions exact_on(const std::string& device) {
  return {.device = device, .numerics = trine::Numerics::exact};
}

/// The digest of the same product on one device alone.
uint64_t digest_on(const std::string& device) {
  const Distribution all_a = {kRows, kDepth}, all_b = {kDepth, kCols}, all_c = {kRows, kCols};
  const std::vector<double> a = part(all_a, 0, of_a), b = part(all_b, 0, of_b);
  std::vector<double> c(kRows * kCols);
  trine::gemm(1, trine::host_col_major(a.data(), trine::Dtype::f64, kRows, kDepth),
              trine::host_col_major(b.data(), trine::Dtype::f64, kDepth, kCols), 0,
              trine::host_col_major(c.data(), trine::Dtype::f64, kRows, kCols), exact_on(device));
  return digest(all_c, 0, c);
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto deal = [&](int64_t rows, int64_t cols, int64_t block_rows, int64_t block_cols) {
    const int down = ranks % 2 == 0 ? 2 : 1;
    return Distribution{rows, cols, block_rows, block_cols, down, ranks / down};
  };
  const Distribution a = deal(kRows, kDepth, 16, 10), b = deal(kDepth, kCols, 7, 8),
                     c = deal(kRows, kCols, 16, 8);
  const std::vector<double> my_a = part(a, rank, of_a), my_b = part(b, rank, of_b);
  std::vector<double> my_c(size_t(c.local_rows(rank) * c.local_cols(rank)));
  using trine::mpi::matrix;
  trine::mpi::gemm(1, matrix(a, my_a.data(), MPI_COMM_WORLD),
                   matrix(b, my_b.data(), MPI_COMM_WORLD), 0,
                   matrix(c, my_c.data(), MPI_COMM_WORLD), MPI_COMM_WORLD,
                   exact_on(count > 1 ? arguments[1] : "cpu"));
  const uint64_t mine[] = {digest(c, rank, my_c)};
  const auto on_ranks = uint64_t(trine::mpi::sum(mine, MPI_COMM_WORLD));

  if (rank == 0) {
    bool same = true;
    std::printf("%016" PRIx64 " on ranks\n", on_ranks);
    for (const trine::Facts& device : trine::devices()) try {
        const uint64_t alone = digest_on(device.id);
        std::printf("%016" PRIx64 " on %s\n", alone, device.id.c_str());
        same = same && alone == on_ranks;
      } catch (const trine::Error& error) {  // a device may lack f64
        std::printf("%s: left out: %s\n", device.id.c_str(), error.what());
      }
    std::printf("%s\n", same ? "one digest" : "digests differ");
  }
  MPI_Finalize();
}
