// Products and transposes of distributed matrices, beside one rank with as many threads as there are ranks, and beside
// ScaLAPACK on the same distribution. Ranks compute with one thread each.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "matrices.hpp"
#include "ratios.hpp"

#ifdef TRINE_HAS_SCALAPACK
extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridexit(int context);
void pdgemm_(const char* transposed_a, const char* transposed_b, const int* m, const int* n,
             const int* k, const double* alpha, const double* a, const int* ia, const int* ja,
             const int* of_a, const double* b, const int* ib, const int* jb, const int* of_b,
             const double* beta, double* c, const int* ic, const int* jc, const int* of_c);
void pdtran_(const int* m, const int* n, const double* alpha, const double* a, const int* ia,
             const int* ja, const int* of_a, const double* beta, double* c, const int* ic,
             const int* jc, const int* of_c);
}
#endif

namespace {

using namespace ranks;
using ratios::Best;
using trine::Dtype;

/// A call on rank 0 while the others sleep, so that its threads have the cores.
template <class Call>
void alone(Call&& call) {
  if (rank() == 0) call();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int has_passed = 0; has_passed == 0;) {
    MPI_Test(&request, &has_passed, MPI_STATUS_IGNORE);
    if (has_passed == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

double largest_difference(const std::vector<double>& x, const std::vector<double>& y) {
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

struct Matrices {
  explicit Matrices(const Distribution& d)
      : n(int(d.rows)),
        whole_a(make<double>(Values::like, 1, d.rows * d.cols)),
        whole_b(make<double>(Values::like, 2, d.rows * d.cols)),
        result(whole_a.size()),
        a(d, Layout::columns, whole_a),
        b(d, Layout::columns, whole_b),
        c(d, Layout::columns, result) {}

  int n;
  std::vector<double> whole_a, whole_b, result;
  Part<double> a, b, c;
};

/// The part of a whole that rank 0 computed.
std::vector<double> part_of(Matrices& m) {
  MPI_Bcast(m.result.data(), int(m.result.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return Part<double>(m.c.distribution, Layout::columns, m.result).memory;
}

#ifdef TRINE_HAS_SCALAPACK
constexpr int kFirst = 1;
constexpr double kOne = 1, kZero = 0;

/// ScaLAPACK's words for a distribution.
struct Descriptor {
  int context = 0, numbers[9] = {};

  explicit Descriptor(const Distribution& d) {
    Cblacs_get(0, 0, &context);
    Cblacs_gridinit(&context, "Row", d.grid_rows, d.grid_cols);
    const int all[] = {1,
                       context,
                       int(d.rows),
                       int(d.cols),
                       int(d.block_rows),
                       int(d.block_cols),
                       0,
                       0,
                       std::max(1, int(d.local_rows(rank())))};
    std::copy(std::begin(all), std::end(all), numbers);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Cblacs_gridexit(context); }
};
#endif

struct Times {
  Best whole, distributed, scalapack;
  bool right = true;

  void print(const char* what, const Distribution& d) const {
    if (rank() != 0) return;
    std::printf("%s of %lld f64, blocks of %lld, grid %d x %d: %.2f ms, of one rank's speed %.2f",
                what, static_cast<long long>(d.rows), static_cast<long long>(d.block_rows),
                d.grid_rows, d.grid_cols, distributed.seconds * 1e3,
                whole.seconds / distributed.seconds);
    if (scalapack.seconds < INFINITY)
      std::printf(", of ScaLAPACK's %.2f", scalapack.seconds / distributed.seconds);
    std::printf("%s\n", right ? "" : ", WRONG");
  }
};

/// What an operation is, done in three ways; and how far ScaLAPACK's result may be from the others'.
template <class Distributed, class Whole, class Scalapack>
bool compare(const char* what, Matrices& m, int rounds, double tolerance, Distributed&& distributed,
             Whole&& whole, [[maybe_unused]] Scalapack&& scalapack) {
  Times times;
  const std::string all_threads = "cpu:threads=" + std::to_string(size());
  std::vector<double> of_scalapack(m.c.memory.size());
  for (int round = 0; round < rounds; ++round) {
    times.distributed.time(1, [&] { distributed({.device = "cpu:threads=1"}); });
    times.whole.time(1, [&] { alone([&] { whole({.device = all_threads}); }); });
#ifdef TRINE_HAS_SCALAPACK
    const Descriptor descriptor(m.a.distribution);
    times.scalapack.time(1, [&] { scalapack(descriptor.numbers, of_scalapack.data()); });
#endif
  }
  times.right = largest_difference(part_of(m), m.c.memory) == 0 &&
                (times.scalapack.seconds == INFINITY ||
                 largest_difference(of_scalapack, m.c.memory) <= tolerance);
  times.print(what, m.a.distribution);
  return times.right;
}

bool compare_products(Matrices& m, int rounds) {
  return compare(
      "gemm", m, rounds, 1e-9 * m.n,
      [&](const trine::HostOptions& options) {
        trine::mpi::gemm(1, m.a.matrix(Dtype::f64), m.b.matrix(Dtype::f64), 0,
                         m.c.matrix(Dtype::f64), MPI_COMM_WORLD, options);
      },
      [&](const trine::HostOptions& options) {
        trine::gemm(m.n, m.n, m.n, m.whole_a.data(), m.whole_b.data(), m.result.data(), options);
      },
      [&]([[maybe_unused]] const int* d, [[maybe_unused]] double* result) {
#ifdef TRINE_HAS_SCALAPACK
        pdgemm_("N", "N", &m.n, &m.n, &m.n, &kOne, m.a.memory.data(), &kFirst, &kFirst, d,
                m.b.memory.data(), &kFirst, &kFirst, d, &kZero, result, &kFirst, &kFirst, d);
#endif
      });
}

bool compare_transposes(Matrices& m, int rounds) {
  return compare(
      "transpose", m, rounds, 0,
      [&](const trine::HostOptions& options) {
        trine::mpi::transpose(m.a.matrix(Dtype::f64), m.c.matrix(Dtype::f64), MPI_COMM_WORLD,
                              options);
      },
      [&](const trine::HostOptions& options) {
        trine::transpose(m.n, m.n, m.whole_a.data(), m.result.data(), options);
      },
      [&]([[maybe_unused]] const int* d, [[maybe_unused]] double* result) {
#ifdef TRINE_HAS_SCALAPACK
        pdtran_(&m.n, &m.n, &kOne, m.a.memory.data(), &kFirst, &kFirst, d, &kZero, result, &kFirst,
                &kFirst, d);
#endif
      });
}

}  // namespace

void ratios::begin_matrices() {
  // The one rank's pool; run.sh has set 1, which ScaLAPACK's BLAS has read by now.
  setenv("OMP_NUM_THREADS", std::to_string(size()).c_str(), 1);
}

bool ratios::compare_matrices(int64_t extent, int rounds) {
  bool right = true;
  for (const bool is_wide : {false, true}) {
    Matrices matrices({.rows = extent,
                       .cols = extent,
                       .block_rows = 64,
                       .block_cols = 64,
                       .grid_rows = is_wide ? 1 : size(),
                       .grid_cols = is_wide ? size() : 1});
    right = compare_products(matrices, rounds) && right;
    right = compare_transposes(matrices, rounds) && right;
  }
  return right;
}
