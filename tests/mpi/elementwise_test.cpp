// Element for element over the ranks: the results are those of one device that reduces the columns
// of a matrix whose rows are the ranks' values.
#include <gmock/gmock.h>

#include <cmath>

#include "on_devices.hpp"

namespace {

using namespace ranks;
using trine::Axis;
using trine::Dtype;
using trine::Function;
using trine::HostOptions;

/// Bytes of results, NaN made one.
template <class Result>
std::vector<uint64_t> bits_of_all(const std::vector<Result>& results) {
  std::vector<uint64_t> bits;
  bits.reserve(results.size());
  for (const Result result : results) bits.push_back(bits_of(result));
  return bits;
}

template <class T>
std::vector<T> of_rank(Values values, int rank, int64_t length) {
  std::vector<T> mine(static_cast<size_t>(length));
  // Neighbours in the stream are the same element of two ranks: then pairs cancel over the ranks.
  for (size_t i = 0; i < mine.size(); ++i)
    mine[i] = value_at<T>(values, 7 + i, uint64_t(rank) + (i % 3 == 0 ? 5 : 0));
  return mine;
}

template <class T, class Result>
std::vector<uint64_t> expected(Function function, Values values, int64_t length) {
  std::vector<T> matrix;
  for (int other = 0; other < size(); ++other) {
    const auto row = of_rank<T>(values, other, length);
    matrix.insert(matrix.end(), row.begin(), row.end());
  }
  std::vector<Result> results(static_cast<size_t>(length));
  trine::reduce(function, trine::Map::identity, Axis::each_column,
                trine::host_row_major(matrix.data(), trine::dtype_of<T>, size(), length),
                trine::host_vector(results.data(), trine::dtype_of<Result>, length),
                {.device = "cpu"});
  return bits_of_all(results);
}

template <class T, class Result>
void check(Function function, Values values, int64_t length, const HostOptions& options) {
  const auto right = expected<T, Result>(function, values, length);
  auto mine = of_rank<T>(values, rank(), length);
  const bool does_block = length % 2 == 1;
  std::vector<Result> results(static_cast<size_t>(length), Result(77));
  reduce(function, mine, results, -1, does_block, options);
  EXPECT_EQ(bits_of_all(results), right);

  const int root = int(length) % size();
  const std::vector<Result> before(static_cast<size_t>(length), Result(55));
  results = before;
  reduce(function, mine, results, root, !does_block, options);
  EXPECT_EQ(bits_of_all(results), rank() == root ? right : bits_of_all(before));
  if constexpr (std::is_same_v<T, Result>) {
    auto in_place = mine;
    reduce(function, in_place, in_place, -1, true, options);
    EXPECT_EQ(bits_of_all(in_place), right);
    ++cases;
  }
  cases += 2;
}

template <class T>
class Elementwise : public testing::Test {
 public:
  static void check_all(int64_t length, Values values, const HostOptions& options) {
    for (const Function function : kFunctions) {
      SCOPED_TRACE(testing::Message() << name(function) << " of " << length << ", values "
                                      << int(values) << ", " << options.device);
      if (function >= Function::argmin)
        check<T, int64_t>(function, values, length, options);
      else if (function <= Function::prod)
        check<T, trine::Sum<T>>(function, values, length, options);
      else
        check<T, T>(function, values, length, options);
    }
  }
};
using Numbers = testing::Types<float, double, int32_t, int64_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(Elementwise, Numbers);

TYPED_TEST(Elementwise, HasTheBitsOfOneDevice) {
  for (const auto& job : jobs_and_resident_ones())
    for (const Values values : kAllValues)
      for (const int64_t length : {0, 1, 2, 5, 100, 1003}) {
        const bool is_quick = job.size() == 1 && job[0] == "cpu";
        const bool is_short = length <= 2 && values == Values::like;  // some ranks reduce nothing
        if (!is_quick && !is_short && (length != 100 || values == Values::denormal)) continue;
        this->check_all(length, values, {.device = device_of(job)});
      }
}

TYPED_TEST(Elementwise, InChunksToo) {
  for (const int64_t bytes : {1, 24, 1000}) {
    trine::mpi::detail::chunk_bytes = bytes;
    for (const int64_t length : {1, 13, 500}) {
      if (bytes == 1 && length > 100) continue;
      this->check_all(length, Values::cancelling, {.device = "cpu"});
      if (bytes == 1000 || length < 100)
        this->check_all(length, Values::cancelling, {.device = "@cpu"});
    }
  }
  trine::mpi::detail::chunk_bytes = int64_t{1} << 26;
}

/// OpenCL's handles of two buffers lie nearer to each other than the buffers are long.
TEST(Pinned, MemoryOfTwoBuffersIsApart) {
  constexpr int64_t kLength = 1 << 20;
  std::vector<std::string> devices = other_devices();
  devices.emplace_back("cpu");
  for (const std::string& device : devices) {
    trine::Queue queue(trine::open(device));
    const auto pinned = [&] {
      return trine::Buffer::of<double>(queue.device(), kLength, trine::Memory::pinned);
    };
    const trine::Buffer ones = pinned(), sums = pinned();
    std::fill_n(static_cast<double*>(ones.host()), kLength, 1.0);
    trine::mpi::allreduce(Function::sum, queue, trine::vector(ones, Dtype::f64, kLength),
                          trine::vector(sums, Dtype::f64, kLength), MPI_COMM_WORLD);
    const auto* const results = static_cast<const double*>(sums.host());
    EXPECT_EQ(std::count(results, results + kLength, double(size())), kLength) << device;
    ++cases;
  }
}

TEST(Roots, AloneNeedAnOutput) {
  trine::mpi::detail::chunk_bytes = 24;
  const std::vector<double> ones(100, 1);
  std::vector<double> sums(rank() == 0 ? 100 : 0);
  trine::mpi::reduce(Function::sum, trine::host_vector(ones.data(), Dtype::f64, 100),
                     trine::host_vector(rank() == 0 ? sums.data() : nullptr, Dtype::f64, 100), 0,
                     MPI_COMM_WORLD, {.device = "cpu"});
  EXPECT_THAT(sums, testing::Each(double(size())));
  trine::mpi::detail::chunk_bytes = int64_t{1} << 26;
}

/// One number a rank: of each exponent, of one sign and of both, and beside one that is far larger.
TEST(Scalars, OfAllExponents) {
  const int step = size() <= 4 ? 7 : 61;  // each place in a word, or fewer where messages are slow
  for (int exponent = -1075; exponent < 1024; exponent += step)
    for (const double far : {0.0, 1.0, std::ldexp(1.0, exponent < 0 ? 1000 : -1000)})
      for (const int negative : {0, 1, 2}) {
        const auto of_rank = [&](int rank) {
          if (far != 0 && rank == 0) return far;
          const double value = std::ldexp(2 - std::ldexp(double(rank + 1), -52), exponent);
          return rank % 3 < negative ? -value : value;
        };
        std::vector<double> all, result(1);
        for (int other = 0; other < size(); ++other) all.push_back(of_rank(other));
        const std::vector<double> mine = {of_rank(rank())};
        trine::mpi::allreduce(Function::sum, mine, result, MPI_COMM_WORLD);
        EXPECT_EQ(bits_of(result[0]), bits_of(trine::sum(all, {.device = "cpu"})))
            << exponent << " " << far;
        ++cases;
      }
}

}  // namespace
