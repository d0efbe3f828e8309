// Errors: what one rank does wrong, all ranks throw, with one sentence; and the next call is right.
#include <gmock/gmock.h>

#include "ledger.hpp"
#include "ranks.hpp"

namespace {

using namespace ranks;
using testing::HasSubstr;
using trine::Map;
using trine::Status;

/// The error that `call` throws, as one text; "nothing" if it throws none.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const trine::Error& error) {
    return std::string(name(error.status())) + ": " + error.what();
  }
  return "nothing";
}

/// Of a call on all ranks: the same error on each, and then a call that works.
template <class Call>
std::string error_of_all(Call&& call) {
  const std::string text = error_of(call);
  EXPECT_TRUE(same_on_all(text)) << text;
  EXPECT_EQ(trine::mpi::sum(std::vector<double>{1}, MPI_COMM_WORLD), size());
  return text;
}

TEST(Errors, ADeviceThatIsNotThereOnOneRank) {
  const int last = size() - 1;
  const std::vector<double> mine = {1, 2};
  const auto text = error_of_all([&] {
    const std::string device = rank() == last ? "abacus" : "cpu";
    trine::mpi::sum(mine, MPI_COMM_WORLD, {.device = device});
  });
  EXPECT_THAT(text, HasSubstr("not_found: On rank " + std::to_string(last) +
                              ": No device is called 'abacus'"));
}

TEST(Errors, WhatIsAskedForDiffers) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const std::vector<float> floats = {1, 2};
  const std::vector<double> doubles = {1, 2};
  EXPECT_EQ(
      error_of_all([&] {
        if (rank() == 1)
          trine::mpi::sum(doubles, Map::abs, MPI_COMM_WORLD);
        else
          trine::mpi::sum(floats, Map::abs, MPI_COMM_WORLD);
      }),
      "invalid_argument: trine::mpi: the ranks ask for different things. ranks 0, 2, 3: allreduce: "
      "sum, map abs, of f32; rank 1: allreduce: sum, map abs, of f64.");
  trine::ExactSum sum;
  sum.add(doubles);
  const trine::ExactSum before = sum;
  EXPECT_THAT(error_of_all([&] { trine::mpi::reduce(sum, rank() / 2, MPI_COMM_WORLD); }),
              HasSubstr("ranks 0, 1: reduce to rank 0 of ExactSums; ranks 2, 3: reduce to rank 1"));
  EXPECT_THAT(
      error_of_all([&] {
        if (rank() < 3)
          trine::mpi::allreduce(sum, MPI_COMM_WORLD);
        else
          trine::mpi::dot(doubles, doubles, MPI_COMM_WORLD);
      }),
      HasSubstr(
          "ranks 0 to 2: allreduce of ExactSums; rank 3: allreduce: sum, map product, of f64"));
  EXPECT_EQ(sum, before);
}

TEST(Errors, ARootThatIsNoRank) {
  for (const int root : {-1, -2, size(), std::numeric_limits<int>::max()}) {
    trine::ExactSum sum;
    const auto text = error_of_all([&] { trine::mpi::reduce(sum, root, MPI_COMM_WORLD); });
    EXPECT_THAT(text,
                HasSubstr("the root is rank " + std::to_string(root) + " of a communicator with"));
    EXPECT_EQ(sum, trine::ExactSum());
  }
}

TEST(Errors, ASumThatLeavesItsState) {
  if (size() == 1) GTEST_SKIP() << "one rank's sum stays what it is";
  trine::ExactSum::State state = {TRINE_EXACT_ANY | TRINE_EXACT_NOT_MINUS_ZERO};
  state.back() = uint64_t{1} << 62;
  trine::ExactSum sum(state);
  EXPECT_THAT(
      error_of_all([&] { trine::mpi::allreduce(sum, MPI_COMM_WORLD); }),
      HasSubstr("invalid_argument: trine::mpi: the sum of all ranks leaves what a state holds"));
  EXPECT_EQ(sum, trine::ExactSum(state));
}

TEST(Errors, CommunicatorsThatAreNone) {
  trine::ExactSum sum;
  EXPECT_EQ(error_of([&] { trine::mpi::allreduce(sum, MPI_COMM_NULL); }),
            "invalid_argument: trine::mpi: the communicator is MPI_COMM_NULL.");
  if (size() == 1) return;
  MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
  PMPI_Comm_split(MPI_COMM_WORLD, rank() % 2, 0, &half);
  PMPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank() % 2, 3, &both);
  EXPECT_THAT(error_of([&] { trine::mpi::allreduce(sum, both); }),
              HasSubstr("MPI_Intercomm_merge"));
  PMPI_Comm_free(&both);
  PMPI_Comm_free(&half);
}

TEST(Errors, OfMpiAreThrownWithItsSentence) {
  trine::ExactSum sum;
  ledger::fail_next_allreduce();
  EXPECT_THAT(error_of_all([&] { trine::mpi::allreduce(sum, MPI_COMM_WORLD); }),
              HasSubstr("backend_error: MPI_Allreduce failed: MPI_ERR_OTHER"));
}

}  // namespace
