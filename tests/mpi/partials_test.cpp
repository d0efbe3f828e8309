// Any reduction of a distributed array has the bits, and the state, of the whole on one device: on
// any number of ranks, however the array is dealt out, on any devices.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "errors.hpp"

namespace {

using namespace ranks;
using testing::HasSubstr;
using trine::Dtype;
using trine::Function;
using trine::HostOptions;
using trine::Map;
using trine::Partial;

/// The elements from `first` to before `end` of an array.
struct Run {
  int64_t first, end;
};
/// The runs of an array that this rank has; `permuted` deals out element by element.
std::vector<Run> runs_of(Deal deal, int64_t length) {
  std::vector<Run> runs;
  for (int64_t i = 0; i < length; ++i) {
    if (owner(deal, i, length, size()) != rank()) continue;
    if (!runs.empty() && runs.back().end == i)
      ++runs.back().end;
    else
      runs.push_back({i, i + 1});
  }
  std::ranges::reverse(runs);
  return runs;
}

/// The bits of a result of whatever type; of a NaN those of one.
template <class Read>
uint64_t bits(Dtype dtype, Read&& read) {
  if (dtype == Dtype::f32) return bits_of(read(float{}));
  if (dtype == Dtype::f64) return bits_of(read(double{}));
  return size_of(dtype) == 4 ? bits_of(read(uint32_t{})) : bits_of(read(uint64_t{}));
}
uint64_t result_of(const Partial& partial) {
  const Dtype dtype = trine::result_dtype(partial.function(), partial.map(), partial.dtype());
  return bits(dtype, [&](auto value) {
    partial.result(dtype, &value);
    return value;
  });
}
template <class T>
uint64_t result_of(Function function, Map map, const std::vector<T>& whole) {
  const Dtype dtype = trine::result_dtype(function, map, trine::dtype_of<T>);
  return bits(dtype, [&](auto value) {
    trine::reduce(function, map, trine::Axis::all,
                  trine::host_vector(whole.data(), trine::dtype_of<T>, int64_t(whole.size())),
                  trine::host_vector(&value, dtype, 1), {.device = "cpu"});
    return value;
  });
}

template <class T>
class Partials : public testing::Test {
 public:
  static void check(Function function, Map map, Deal deal, const std::vector<T>& whole,
                    const HostOptions& options) {
    const auto length = int64_t(whole.size());
    Partial mine(function, trine::dtype_of<T>, map), expected = mine;
    expected.add(whole, 0, {.device = "cpu"});
    for (const auto [first, end] : runs_of(deal, length))
      mine.add(std::span(whole).subspan(size_t(first), size_t(end - first)), first, options);

    Partial all = mine;
    trine::mpi::allreduce(all, MPI_COMM_WORLD);
    EXPECT_EQ(all, expected);
    EXPECT_EQ(result_of(all), result_of(function, map, whole));
    const int root = int(length) % size();
    Partial one = mine;
    trine::mpi::reduce(one, root, MPI_COMM_WORLD);
    EXPECT_EQ(one, rank() == root ? expected : mine);
    cases += 2;
  }
};
using Numbers = testing::Types<float, double, int32_t, int64_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(Partials, Numbers);

TYPED_TEST(Partials, HaveTheStateOfTheWhole) {
  for (const auto& job : jobs())
    for (const Values values : kAllValues)
      for (const int64_t length : {0, 1, 7, 100, 1003})
        for (const Deal deal : kAllDeals) {
          const bool is_quick = job.size() == 1 && job[0] == "cpu";
          if (!is_quick && (length != 100 || deal != Deal::ragged)) continue;
          const auto whole = make<TypeParam>(values, 1, length);
          for (const Function function : kFunctions) {
            // Single elements of a longer product are more blocks than a state holds.
            if (function == Function::prod && deal == Deal::permuted && length > 100) continue;
            SCOPED_TRACE(testing::Message()
                         << name(function) << " of " << length << ", values " << int(values)
                         << ", deal " << int(deal) << ", " << device_of(job));
            const Map map = length % 2 == 0 ? Map::identity : Map::abs;
            this->check(function, map, deal, whole, {.device = device_of(job)});
          }
        }
}

/// The blocks of an array in a random order of ranks: where this rank's begins, and how long it is.
Run block(int64_t length, uint64_t seed) {
  std::vector<int> order(static_cast<size_t>(size()));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_at(seed, i) % i]);
  const int64_t mine = order[size_t(rank())];
  return {length * mine / size(), length * (mine + 1) / size()};
}

/// The functions for ranges, each rank's in the order of its own and on a device of its own.
template <class T>
void check_ranges(const std::vector<T>& whole, const Run& run, const HostOptions& options) {
  const auto mine = std::span(whole).subspan(size_t(run.first), size_t(run.end - run.first));
  const MPI_Comm all = MPI_COMM_WORLD;
  const HostOptions cpu{.device = "cpu"};
  for (const Map map : {Map::identity, Map::abs, Map::square})
    EXPECT_EQ(bits_of(trine::mpi::sum(mine, map, all, options)),
              bits_of(trine::sum(whole, map, cpu)));
  if constexpr (std::is_floating_point_v<T>) {
    EXPECT_EQ(bits_of(trine::mpi::dot(mine, mine, all, options)),
              bits_of(trine::dot(whole, whole, cpu)));
  }
  EXPECT_EQ(bits_of(trine::mpi::prod(mine, run.first, all)), bits_of(trine::prod(whole, cpu)));
  EXPECT_EQ(bits_of(trine::mpi::min(mine, all)), bits_of(trine::min(whole, cpu)));
  EXPECT_EQ(bits_of(trine::mpi::max(mine, all, options)), bits_of(trine::max(whole, cpu)));
  EXPECT_EQ(trine::mpi::argmin(mine, run.first, all), trine::argmin(whole, cpu));
  EXPECT_EQ(trine::mpi::argmax(mine, run.first, all, options), trine::argmax(whole, cpu));
  cases += std::is_floating_point_v<T> ? 9 : 8;
}

TYPED_TEST(Partials, OfRangesInALine) {
  uint64_t seed = 1;
  for (const auto& job : jobs())
    for (const Values values : kAllValues)
      for (const int64_t length : {0, 1, 5, 1003, 5000}) {
        const bool is_quick = job.size() == 1 && job[0] == "cpu";
        if (!is_quick && (length != 1003 || values != Values::cancelling)) continue;
        SCOPED_TRACE(testing::Message()
                     << length << ", values " << int(values) << ", " << device_of(job));
        const auto whole = make<TypeParam>(values, 2, length);
        check_ranges(whole, block(length, ++seed), {.device = device_of(job)});
      }
}

TYPED_TEST(Partials, OfDeviceMemory) {
  const auto whole = make<TypeParam>(Values::like, 3, 2000);
  const auto [first, end] = block(2000, 7);
  trine::Queue queue(trine::open("cpu"));
  constexpr Dtype kDtype = trine::dtype_of<TypeParam>;
  const trine::View view = trine::vector(
      {queue.device(), std::max<uint64_t>(1, uint64_t(end - first)) * sizeof(TypeParam)}, kDtype,
      end - first);
  trine::copy(queue, trine::host_vector(whole.data() + first, kDtype, end - first), view);
  for (const Function function : kFunctions)
    EXPECT_EQ(
        result_of(trine::mpi::partial(function, queue, view, first, Map::abs, MPI_COMM_WORLD)),
        result_of(function, Map::abs, whole))
        << name(function);
}

// Each rank has pieces with gaps, which fit into one state; those of two ranks don't, but those of
// all do.
TEST(Products, OfPartsInCycles) {
  constexpr int64_t kPiece = 5;
  const auto whole = make<double>(Values::like, 5, kPiece * 40 * size());
  Partial mine(Function::prod, Dtype::f64), expected = mine;
  expected.add(whole, 0, {.device = "cpu"});
  for (int64_t piece = rank(); piece < 40 * size(); piece += size())
    mine.add(std::span(whole).subspan(size_t(kPiece * piece), kPiece), kPiece * piece);
  trine::mpi::allreduce(mine, MPI_COMM_WORLD);
  EXPECT_EQ(mine, expected);
}

TEST(Requests, OfPartials) {
  const auto whole = make<float>(Values::like, 4, 100);
  std::vector<Partial> mine, expected;
  for (const Function function : kFunctions) {
    mine.emplace_back(function, Dtype::f32);
    expected.push_back(mine.back());
    expected.back().add(whole, 0, {.device = "cpu"});
    for (const auto [first, end] : runs_of(Deal::permuted, 100))
      mine.back().add(std::span(whole).subspan(size_t(first), size_t(end - first)), first);
  }
  auto others = mine;
  const auto before = mine;
  std::vector<trine::mpi::Request> requests;
  for (size_t i = 0; i < mine.size(); ++i) {
    requests.push_back(trine::mpi::iallreduce(mine[i], MPI_COMM_WORLD));
    requests.push_back(trine::mpi::ireduce(others[i], size() - 1, MPI_COMM_WORLD));
  }
  for (size_t i = requests.size(); i-- > 0;) requests[i].wait();
  EXPECT_EQ(mine, expected);
  EXPECT_EQ(others, rank() == size() - 1 ? expected : before);
}

TEST(PartialErrors, OfPartialsLeaveThemAsTheyWere) {
  const int last = size() - 1;
  Partial product(Function::prod, Dtype::f64);
  product.add(std::vector<double>{1, 2, 3},
              3 * std::max(0, rank() - 1));  // ranks 0 and 1 have the same
  const Partial before = product;
  const auto merge = [&] { trine::mpi::allreduce(product, MPI_COMM_WORLD); };
  const auto to_last = [&] { trine::mpi::reduce(product, last, MPI_COMM_WORLD); };
  const char* const twice = size() > 1 ? "the product has element 0 twice" : "nothing";
  EXPECT_THAT(error_of_all(merge), HasSubstr(twice));
  EXPECT_THAT(error_of_all(to_last), HasSubstr(twice));
  EXPECT_EQ(product, before);
  EXPECT_THAT(error_of_all([&] { trine::mpi::reduce(product, size(), MPI_COMM_WORLD); }),
              HasSubstr("the root is rank " + std::to_string(size())));

  EXPECT_THAT(error_of_all([&] {
                const int64_t first = rank() == last ? -1 : 0;
                trine::mpi::argmin(std::vector<double>{1}, first, MPI_COMM_WORLD);
              }),
              HasSubstr("On rank " + std::to_string(last) + ": Partial: add: 1 elements from -1"));
  EXPECT_THAT(error_of_all([&] {
                trine::mpi::partial(Function(99), trine::host_vector(&last, Dtype::i32, 1), 0,
                                    Map::identity, MPI_COMM_WORLD);
              }),
              HasSubstr("99"));
}

TEST(PartialErrors, OfPartialsThatDiffer) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  EXPECT_THAT(error_of_all([&] {
                Partial mine(rank() == 0 ? Function::min : Function::prod, Dtype::f32);
                trine::mpi::allreduce(mine, MPI_COMM_WORLD);
              }),
              HasSubstr("rank 0: allreduce of Partials: min, map identity, of f32; rank"));
  EXPECT_THAT(error_of_all([&] {
                Partial scattered(Function::prod, Dtype::f64);
                for (int64_t i = 0; i < 100; ++i)
                  scattered.add(std::vector<double>{1}, 1000 * rank() + 3 * i);
                trine::mpi::allreduce(scattered, MPI_COMM_WORLD);
              }),
              HasSubstr("the pieces of this product lie too far apart"));
}

}  // namespace
