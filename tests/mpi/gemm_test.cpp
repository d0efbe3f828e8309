// Products of distributed matrices: each part has the bits of one device's product of the whole.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "matrices.hpp"
#include "on_devices.hpp"

namespace {

using namespace ranks;
using trine::HostOptions, trine::Numerics;

/// Three distributions on one grid; k is cut differently in a and b.
struct Three {
  Distribution a, b, c;
};
Three three(uint64_t seed, int64_t m, int64_t n, int64_t k) {
  const Distribution c = distribution(seed, m, n), other = distribution(seed + 1000, k, k);
  Three all = {.a = c, .b = c, .c = c};
  all.a.cols = all.b.rows = k;
  all.a.block_cols = other.block_cols, all.b.block_rows = other.block_rows;
  all.a.first_col = int(seed % uint64_t(c.grid_cols));
  all.b.first_row = int(seed / 3 % uint64_t(c.grid_rows));
  return all;
}

struct Scalars {
  double alpha, beta;
  bool continues = false;
};

template <class T>
std::vector<uint64_t> all_bits(const std::vector<T>& values) {
  std::vector<uint64_t> bits(values.size());
  std::ranges::transform(values, bits.begin(), bits_of<T>);
  return bits;
}

template <class T>
void check(const Three& d, uint64_t seed, Values values, const Scalars& s, HostOptions options) {
  const int64_t m = d.c.rows, n = d.c.cols, k = d.a.cols;
  const auto whole_a = make<T>(values, 1, m * k), whole_b = make<T>(values, 2, k * n);
  const auto before = make<T>(values, 3, m * n);
  auto whole_c = before;
  trine::gemm(m, n, k, T(s.alpha), whole_a.data(), whole_b.data(), T(s.beta), whole_c.data(),
              {.device = "cpu", .numerics = options.numerics, .continues = s.continues});

  Part<T> a(d.a, kLayouts[seed % 4], whole_a), b(d.b, kLayouts[seed / 4 % 4], whole_b);
  Part<T> c(d.c, kLayouts[seed / 2 % 4], before);
  const Part<T> expected(d.c, kLayouts[seed / 2 % 4], whole_c);
  constexpr trine::Dtype kDtype = trine::dtype_of<T>;
  options.continues = s.continues;
  gemm(s.alpha, a, b, s.beta, c, kDtype, options);
  EXPECT_TRUE(all_bits(c.memory) == all_bits(expected.memory))
      << testing::PrintToString(d.a) << " * " << testing::PrintToString(d.b) << ", values "
      << int(values) << ", alpha " << s.alpha << ", beta " << s.beta << ", "
      << name(options.numerics) << " on " << options.device;
  ++cases;
}

constexpr std::array<int64_t, 3> kShapes[] = {{0, 3, 2},   {3, 0, 2},   {3, 2, 0},   {1, 1, 1},
                                              {1, 40, 30}, {17, 5, 90}, {33, 61, 47}};
constexpr Scalars kScalars[] = {{1, 0},  {-2, 0},      {0.5, 1},      {-1, -1},    {0, 2},
                                {-3, 1}, {1, 0, true}, {-2, 0, true}, {0, 0, true}};

template <class T>
class Gemm : public testing::Test {
 public:
  static void check_all(int64_t many, const std::vector<std::string>& job,
                        Numerics numerics = Numerics::reproducible) {
    uint64_t seed = sizeof(T);
    for (const auto& [m, n, k] : kShapes)
      for (Scalars scalars : kScalars) {
        if (scalars.continues && numerics == Numerics::exact) continue;
        if (std::is_integral_v<T> && scalars.alpha == 0.5) scalars.alpha = 7;
        for (int i = 0; i < many; ++i) {
          const Values values = kAllValues[++seed % std::size(kAllValues)];
          check<T>(three(seed, m, n, k), seed, values, scalars,
                   {.device = device_of(job), .numerics = numerics});
        }
      }
  }
};
using Numbers = testing::Types<float, double, int32_t>;
TYPED_TEST_SUITE(Gemm, Numbers);

TYPED_TEST(Gemm, HasTheBitsOfOneDevice) {
  for (const auto& job : jobs_and_resident_ones())
    this->check_all(job.size() == 1 && job[0] == "cpu" && !kIsSanitized ? 6 : 1, job);
}

TYPED_TEST(Gemm, IsExactOnAnyGrid) {
  const std::vector<std::string> jobs[] = {{"cpu"}, {"@cpu"}, {"@cpu", "cpu"}};
  for (const auto& job : jobs)
    this->check_all(job[0] == "cpu" && !kIsSanitized ? 6 : 1, job, Numerics::exact);
}

TYPED_TEST(Gemm, InShortStepsToo) {
  for (const int64_t bytes : {1, 3000}) {
    trine::mpi::detail::chunk_bytes = bytes;
    for (const auto& job : {"cpu", "@cpu"}) this->check_all(1, {job});
    this->check_all(1, {bytes == 1 ? "@cpu" : "cpu"}, Numerics::exact);
  }
  trine::mpi::detail::chunk_bytes = int64_t{1} << 26;
}

/// A communicator's rows and columns are kept from call to call, as long as the grid is the same.
TEST(Products, OnOneGridAfterTheOther) {
  const int half = std::max(1, size() / 2);
  for (int call = 0; call < 8; ++call) {
    const bool is_wide = call / 2 % 2 == 1;
    const Distribution d = {.rows = 20,
                            .cols = 20,
                            .block_rows = 3,
                            .block_cols = 3,
                            .grid_rows = is_wide ? size() / half : half,
                            .grid_cols = is_wide ? half : size() / half,
                            .ranks_by_columns = call % 2 == 1};
    check<double>({d, d, d}, 0, Values::like, {1, 1}, {.device = "cpu"});
  }
}

/// More than one step of whole panels.
TEST(Products, OfLargerMatrices) {
  for (const auto& job : jobs_and_resident_ones())
    for (const Numerics numerics : {Numerics::reproducible, Numerics::exact})
      for (uint64_t seed = 0; seed < (kIsSanitized ? 2 : 4); ++seed)
        check<float>(three(seed, 130, 150, 1500), seed, Values::like,
                     {-2, seed % 2 == 0 ? 0.0 : 1.0},
                     {.device = device_of(job), .numerics = numerics});
}

/// A panel of an exact product, which has all of k, comes in several steps.
TEST(Products, OfPanelsInSeveralSteps) {
  trine::mpi::detail::chunk_bytes = 3000;
  for (const auto& device : {"cpu", "@cpu"})
    for (uint64_t seed = 0; seed < 4; ++seed) {
      Three d = three(seed, 5, 7, 1100);
      d.a.block_cols = 1, d.b.block_rows = 2;
      check<double>(d, seed, Values::like, {-2, 1},
                    {.device = device, .numerics = Numerics::exact});
    }
  trine::mpi::detail::chunk_bytes = int64_t{1} << 26;
}

/// beta != 0: the step that adds c keeps what the contract says of zeros.
TEST(Products, KeepsTheSignsOfZeros) {
  const Distribution d = {.rows = 2, .cols = 2, .grid_rows = size()};
  for (const double alpha : {1.0, -1.0})
    for (const double c : {0.0, -0.0})
      for (const double x : {0.0, -0.0}) {
        std::vector<double> a(4, x), b(4, 1), whole(4, c);
        Part<double> of_a(d, Layout::columns, a), of_b(d, Layout::columns, b),
            of_c(d, Layout::columns, whole);
        trine::gemm(2, 2, 2, alpha, a.data(), b.data(), 1, whole.data(), {.device = "cpu"});
        trine::mpi::gemm(alpha, of_a.matrix(trine::Dtype::f64), of_b.matrix(trine::Dtype::f64), 1,
                         of_c.matrix(trine::Dtype::f64), MPI_COMM_WORLD, {.device = "cpu"});
        EXPECT_EQ(all_bits(of_c.memory), all_bits(Part<double>(d, Layout::columns, whole).memory))
            << alpha << " " << c << " " << x;
      }
}

}  // namespace
