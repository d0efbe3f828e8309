// Calls from the threads that MPI's level allows: test_mpi_threads LEVEL runs what that promises
// (main.cpp).
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "ledger.hpp"
#include "matrices.hpp"

namespace {

using namespace ranks;
using trine::Function;
using trine::HostOptions;

int level() {
  int provided = 0;
  MPI_Query_thread(&provided);
  return provided;
}

/// A call of each kind on a communicator of all ranks in their order; whether all have the bits of
/// one device.
bool all_are_right(MPI_Comm comm, uint64_t seed) {
  constexpr trine::Dtype kDtype = trine::Dtype::f64;
  const HostOptions cpu = {.device = "cpu"};
  const auto whole = make<double>(Values::cancelling, seed, 1003);
  const auto mine = part(whole, Deal::ragged);
  // All calls come first: a rank that left one out, because another was wrong, would leave the
  // others waiting.
  const double sum = trine::mpi::sum(mine, comm, cpu);
  const double dot = trine::mpi::dot(mine, mine, comm, cpu);

  const auto factors = make<double>(Values::like, seed, 300);
  const int64_t first = 300 * rank() / size(), end = 300 * (rank() + 1) / size();
  const auto part_of = std::span(factors).subspan(size_t(first), size_t(end - first));
  const double prod = trine::mpi::prod(part_of, first, comm, cpu);
  const int64_t argmin = trine::mpi::argmin(part_of, first, comm, cpu);

  const std::vector<double> ones(500, double(rank() + 1));
  std::vector<double> sums(500), largest(500);
  auto later = trine::mpi::iallreduce(Function::max, ones, largest, comm, cpu);
  trine::mpi::allreduce(Function::sum, ones, sums, comm, cpu);
  later.wait();

  constexpr int64_t kSide = 37;
  const auto matrix = make<double>(Values::like, seed, kSide * kSide);
  std::vector<double> turned(matrix.size()), product(matrix.size());
  trine::transpose(kSide, kSide, matrix.data(), turned.data(), cpu);
  trine::gemm(kSide, kSide, kSide, matrix.data(), matrix.data(), product.data(), cpu);
  const Distribution d = distribution(seed, kSide, kSide);
  Part<double> a(d, Layout::columns, matrix), t = a, c = a;
  trine::mpi::transpose(a.matrix(kDtype), t.matrix(kDtype), comm, cpu);
  trine::mpi::gemm(1, a.matrix(kDtype), a.matrix(kDtype), 0, c.matrix(kDtype), comm, cpu);
  return sum == trine::sum(whole, cpu) && dot == trine::dot(whole, whole, cpu) &&
         prod == trine::prod(factors, cpu) && argmin == trine::argmin(factors, cpu) &&
         sums == std::vector<double>(500, 0.5 * size() * (size() + 1)) &&
         largest == std::vector<double>(500, size()) &&
         t.memory == Part<double>(d, Layout::columns, turned).memory &&
         c.memory == Part<double>(d, Layout::columns, product).memory;
}

class Threads : public testing::Test {
 public:
  void SetUp() override { trine::mpi::detail::chunk_bytes = 1000; }
  void TearDown() override { trine::mpi::detail::chunk_bytes = int64_t{1} << 26; }
};

/// MPI_THREAD_FUNNELED demands this: no thread of Trine's own, a device's say, ever calls MPI.
TEST_F(Threads, CallMpiThemselvesAndNobodyElseDoes) {
  ledger::messages();
  EXPECT_TRUE(all_are_right(MPI_COMM_WORLD, 1));
  const ledger::Messages seen = ledger::messages();
  EXPECT_GT(seen.count, 20);
  EXPECT_EQ(seen.elsewhere, 0);
}

TEST_F(Threads, CallOneAfterAnotherOnOneCommunicator) {
  if (level() < MPI_THREAD_SERIALIZED) GTEST_SKIP() << "calls come from the main thread alone";
  for (uint64_t seed = 10; seed < 13; ++seed) {
    bool right = false;
    std::thread([&] { right = all_are_right(MPI_COMM_WORLD, seed); }).join();
    EXPECT_TRUE(right);
  }
}

TEST_F(Threads, CallAtTheSameTimeOnCommunicatorsOfTheirOwn) {
  if (level() < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "calls come one after another";
  constexpr int kThreads = 4, kRounds = 5;
  MPI_Comm comms[kThreads];
  for (MPI_Comm& comm : comms) PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round)
        if (all_are_right(comms[thread], 100 * uint64_t(thread) + uint64_t(round))) ++right;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads * kRounds);
  for (MPI_Comm& comm : comms) PMPI_Comm_free(&comm);
}

/// Rank 0's other thread stands still in calls that the other ranks have yet to begin: in the
/// test() of `first`, and then in that of `second`, which carries on `first`.
TEST_F(Threads, DontWaitForWhatAnotherCarriesOn) {
  if (level() < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "calls come one after another";
  for (const int tests : {1, 2}) {
    MPI_Comm comms[3];
    trine::ExactSum sums[3];
    for (MPI_Comm& comm : comms) {
      PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
      trine::mpi::allreduce(sums[0], comm);  // makes what stays with the communicator
    }
    trine::mpi::Request first, second;
    const auto begin = [&] {
      first = trine::mpi::iallreduce(sums[0], comms[0]);
      second = trine::mpi::iallreduce(sums[1], comms[1]);
    };
    std::thread other;
    if (rank() == 0) {
      begin();
      other = std::thread([&] {
        ledger::hold_test(tests);
        (tests == 1 ? first : second).test();
      });
      while (!ledger::is_held()) std::this_thread::yield();
    }
    if (rank() != 0) MPI_Barrier(MPI_COMM_WORLD);
    trine::mpi::Request mine = trine::mpi::iallreduce(sums[2], comms[2]);
    if (rank() == 0) {
      EXPECT_FALSE(mine.test());
      EXPECT_TRUE(ledger::is_held()) << tests;
      MPI_Barrier(MPI_COMM_WORLD);
      ledger::release();
      other.join();
    } else {
      begin();
    }
    mine.wait();
    first.wait(), second.wait();
    for (MPI_Comm& comm : comms) PMPI_Comm_free(&comm);
  }
}

}  // namespace
