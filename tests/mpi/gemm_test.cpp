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

/// The whole matrices, row-major; c as it was, and as it shall be.
template <class T>
struct Whole {
  std::vector<T> a, b, before, c;
};

template <class T>
void check(const Three& d, uint64_t seed, const Whole<T>& whole, const Scalars& s,
           HostOptions options) {
  Part<T> a(d.a, kLayouts[seed % 4], whole.a), b(d.b, kLayouts[seed / 4 % 4], whole.b);
  Part<T> c(d.c, kLayouts[seed / 2 % 4], whole.before);
  const Part<T> expected(d.c, kLayouts[seed / 2 % 4], whole.c);
  options.continues = s.continues;
  gemm(s.alpha, a, b, s.beta, c, trine::dtype_of<T>, options);
  EXPECT_TRUE(all_bits(c.memory) == all_bits(expected.memory))
      << testing::PrintToString(d.a) << " * " << testing::PrintToString(d.b) << ", seed " << seed
      << ", alpha " << s.alpha << ", beta " << s.beta << ", " << name(options.numerics) << " on "
      << options.device;
  ++cases;
}

/// Compares with one device.
template <class T>
void check(const Three& d, uint64_t seed, Values values, const Scalars& s, HostOptions options) {
  const int64_t m = d.c.rows, n = d.c.cols, k = d.a.cols;
  Whole<T> whole = {
      make<T>(values, 1, m * k), make<T>(values, 2, k * n), make<T>(values, 3, m * n), {}};
  whole.c = whole.before;
  trine::gemm(m, n, k, T(s.alpha), whole.a.data(), whole.b.data(), T(s.beta), whole.c.data(),
              {.device = "cpu", .numerics = options.numerics, .continues = s.continues});
  check(d, seed, whole, s, options);
}

/// Terms of all exponents, of which each second one cancels the one before, and at last a sum that
/// is a tie, or a little off it.
template <class T>
Whole<T> hard_values(int64_t m, int64_t n, int64_t k, uint64_t seed) {
  using L = std::numeric_limits<T>;
  Whole<T> whole = {make<T>(Values::like, seed, m * k),
                    make<T>(Values::like, seed, k * n),
                    make<T>(Values::like, seed, m * n),
                    {}};
  const auto large = make<T>(Values::cancelling, seed, m * k + k * n);
  for (int64_t p = 0; p + 3 < k; p += 2) {
    for (int64_t i = 0; i < m; ++i) {
      whole.a[size_t(i * k + p)] = large[size_t(i * k + p)];
      whole.a[size_t(i * k + p + 1)] = -large[size_t(i * k + p)];
    }
    for (int64_t j = 0; j < n; ++j)
      whole.b[size_t(p * n + j)] = whole.b[size_t(p * n + n + j)] = large[size_t((m + j) * k + p)];
  }
  const T last[] = {1, L::epsilon() / 2, L::min()};
  for (int64_t t = 0; t < 3; ++t) {
    for (int64_t i = 0; i < m; ++i) whole.a[size_t(i * k + k - 3 + t)] = i % 2 == 0 ? last[t] : 0;
    for (int64_t j = 0; j < n; ++j) whole.b[size_t((k - 3 + t) * n + j)] = t < 2 ? 1 : T(j % 3 - 1);
  }
  return whole;
}

/// c with alpha 1: exact sums, rounded once.
template <class T>
std::vector<T> rounded_once(const Whole<T>& whole, int64_t m, int64_t n, int64_t k, double beta) {
  const HostOptions cpu = {.device = "cpu"};
  const auto vector = [](const T* data, int64_t length, int64_t stride) {
    auto view = trine::host_vector(data, trine::dtype_of<T>, length);
    view.row_stride = stride;
    return view;
  };
  std::vector<T> rounded;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      trine::ExactSum sum;
      const T zero = 0;  // so that no sum is -0
      sum.add(vector(&zero, 1, 1), trine::Map::identity, cpu);
      sum.add_dot(vector(&whole.a[size_t(i * k)], k, 1), vector(&whole.b[size_t(j)], k, n), cpu);
      if (beta == 1)
        sum.add(vector(&whole.before[size_t(i * n + j)], 1, 1), trine::Map::identity, cpu);
      rounded.push_back(sum.round<T>());
    }
  return rounded;
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

TYPED_TEST(Gemm, IsRoundedOnce) {
  if constexpr (std::is_floating_point_v<TypeParam>) {
    constexpr int64_t m = 6, n = 7, k = 41;
    for (uint64_t seed = 0; seed < 6; ++seed)
      for (const double beta : {0.0, 1.0}) {
        Whole<TypeParam> whole = hard_values<TypeParam>(m, n, k, seed);
        whole.c = rounded_once(whole, m, n, k, beta);
        check(three(seed, m, n, k), seed, whole, {1, beta},
              {.device = seed % 2 == 0 ? "cpu" : "@cpu", .numerics = Numerics::exact});
      }
  }
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
