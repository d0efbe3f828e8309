// Sums of distributed arrays have the bits of the whole on one device: on any number of ranks,
// however the array is dealt out, on any devices.
#include <gtest/gtest.h>

#include "ledger.hpp"
#include "on_devices.hpp"

namespace {

using namespace ranks;
using trine::Map;

template <class T>
class Sums : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Sums, Floats);

TYPED_TEST(Sums, OfDeviceMemoryAndOfStridesHaveOneState) {
  for (const auto& job : jobs()) {
    const auto whole = make<TypeParam>(Values::cancelling, 4, 6000);
    const auto mine = part(whole, Deal::ragged);
    const auto length = int64_t(mine.size());
    trine::ExactSum expected;
    expected.add(whole, Map::abs, {.device = "cpu"});

    constexpr trine::Dtype kDtype = trine::dtype_of<TypeParam>;
    trine::Queue queue(trine::open(device_of(job) == "auto" ? "cpu" : device_of(job)));
    const uint64_t bytes = std::max<uint64_t>(1, mine.size()) * sizeof(TypeParam);
    const trine::View view = trine::vector({queue.device(), bytes}, kDtype, length);
    trine::copy(queue, trine::host_vector(mine.data(), kDtype, length), view);
    EXPECT_EQ(trine::mpi::exact_sum(queue, view, Map::abs, MPI_COMM_WORLD), expected);

    trine::ExactSum squares, dots = trine::mpi::exact_dot(queue, view, view, MPI_COMM_WORLD);
    squares.add(whole, Map::square, {.device = "cpu"});
    EXPECT_EQ(dots, squares);

    const auto length_of_whole = int64_t(whole.size());
    auto every = trine::host_vector(whole.data() + rank(), kDtype, 0);
    every.rows = (length_of_whole - rank() + size() - 1) / size();
    every.row_stride = size();
    EXPECT_EQ(trine::mpi::exact_sum(every, Map::abs, MPI_COMM_WORLD), expected);
  }
}

/// The sum that each rank brings: its number and a half, tiny, 2^rank times.
trine::ExactSum brought(int rank) {
  trine::ExactSum sum;
  for (int i = 0; i <= rank; ++i)
    sum.add(std::vector<double>{(rank + 0.5) * 1e-300, 1e300, -1e300});
  return sum;
}

TEST(Merge, ReachesAllRanksOrTheRoot) {
  trine::ExactSum expected;
  for (int other = 0; other < size(); ++other) expected.merge(brought(other));
  trine::ExactSum sum = brought(rank());
  trine::mpi::allreduce(sum, MPI_COMM_WORLD);
  EXPECT_EQ(sum, expected);
  for (int root = 0; root < size(); ++root) {
    trine::ExactSum other = brought(rank());
    trine::mpi::reduce(other, root, MPI_COMM_WORLD);
    EXPECT_EQ(other, rank() == root ? expected : brought(rank()));
  }
}

TEST(Communicators, AreThoseGiven) {
  MPI_Comm half = MPI_COMM_NULL, reversed = MPI_COMM_NULL;
  PMPI_Comm_split(MPI_COMM_WORLD, rank() % 2, 0, &half);
  PMPI_Comm_split(MPI_COMM_WORLD, 0, -rank(), &reversed);
  const std::vector<double> mine = {double(rank()), 1};
  double expected = 0;
  for (int other = rank() % 2; other < size(); other += 2) expected += other + 1;
  EXPECT_EQ(trine::mpi::sum(mine, half), expected);
  EXPECT_EQ(trine::mpi::sum(mine, reversed), size() * (size() - 1) / 2 + size());
  EXPECT_EQ(trine::mpi::sum(mine, MPI_COMM_SELF), rank() + 1);

  // A duplicate has a channel of its own; messages of the program pass by.
  MPI_Comm again = MPI_COMM_NULL;
  PMPI_Comm_dup(half, &again);
  MPI_Request request = MPI_REQUEST_NULL;
  int received = -1;
  MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, again, &request);
  EXPECT_EQ(trine::mpi::sum(mine, again), expected);
  int here = 0;
  MPI_Comm_rank(again, &here);
  MPI_Send(&here, 1, MPI_INT, here, 5, again);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(received, here);
  PMPI_Comm_free(&again);
  PMPI_Comm_free(&half);
  // `reversed` and its duplicate are left to MPI_Finalize.
}

// A call that waits for its device looks for messages from any rank; and it counts on their order.
TEST(Communicators, HaveNoneOfTheProgramsHints) {
  constexpr const char* kHint = "mpi_assert_no_any_source";
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Info hints = MPI_INFO_NULL;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, kHint, "true");
  MPI_Comm_set_info(comm, hints);
  MPI_Info_free(&hints);
  EXPECT_EQ(trine::mpi::sum(std::vector<double>{1}, comm), size());
  EXPECT_FALSE(ledger::last_duplicate_has(kHint));
  PMPI_Comm_free(&comm);
}

/// One rank has all elements, of a sum, a dot product and any reduction; or nobody has any.
TEST(Empty, PartsOfSums) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  for (const auto& job : jobs_and_resident_ones())
    for (const int owner : {0, size() - 1, -1})
      for (const auto& [rows, cols] : {std::pair{0, 0}, {0, 3}, {3, 0}}) {
        const bool is_owner = rank() == owner;
        std::vector<double> memory(is_owner ? 4 : 0, 1.5);
        const double sum = owner < 0 ? 0 : 6, dot = owner < 0 ? 0 : 9;
        trine::HostView x = trine::host_vector(memory.data(), trine::Dtype::f64, 4);
        if (!is_owner) x = trine::host_row_major(memory.data(), trine::Dtype::f64, rows, cols);
        const std::string& device = device_of(job);
        const auto expect = [&](const trine::ExactSum& sums, const trine::ExactSum& dots,
                                const trine::Partial& most) {
          EXPECT_EQ(sums.round<double>(), sum) << device;
          EXPECT_EQ(dots.round<double>(), dot) << device;
          EXPECT_EQ(most.result<int64_t>(), owner < 0 ? -1 : 0) << device;
          ++cases;
        };
        constexpr trine::Map kAsIs = trine::Map::identity;
        if (is_resident(device)) {
          Resident on(device);
          const trine::View there = on.upload(memory, x);
          expect(trine::mpi::exact_sum(on.queue, there, kAsIs, comm),
                 trine::mpi::exact_dot(on.queue, there, there, comm),
                 trine::mpi::partial(trine::Function::argmax, on.queue, there, 0, kAsIs, comm));
        } else {
          const trine::HostOptions options = {.device = device};
          expect(trine::mpi::exact_sum(x, kAsIs, comm, options),
                 trine::mpi::exact_dot(x, x, comm, options),
                 trine::mpi::partial(trine::Function::argmax, x, 0, kAsIs, comm, options));
        }
      }
}

}  // namespace
