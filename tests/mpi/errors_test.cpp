// Errors: what one rank does wrong, all ranks throw, with one sentence; and the next call is right.
#include <gmock/gmock.h>

#include <cstdlib>
#include <string_view>

#include "errors.hpp"
#include "ledger.hpp"
#include "on_devices.hpp"

namespace {

using namespace ranks;
using testing::HasSubstr;
using trine::Function;
using trine::Map;

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

/// The sentence of an elementwise call, which must have written nothing.
template <class Call>
std::string error_that_writes_nothing(Call&& call) {
  std::vector<double> output(10, 77);
  auto text = error_of_all([&] { call(output); });
  EXPECT_THAT(output, testing::Each(77.0));
  return text;
}

TEST(Errors, LengthsThatDifferWriteNothing) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const std::vector<double> input(10, 1);
  EXPECT_THAT(
      error_that_writes_nothing([&](std::vector<double>& output) {
        const size_t length = rank() == 2 ? 9 : 10;
        trine::mpi::allreduce(Function::sum, std::span(input).first(length),
                              std::span(output).first(length), MPI_COMM_WORLD);
      }),
      HasSubstr("ranks 0, 1, 3: allreduce: sum of 10 f64; rank 2: allreduce: sum of 9 f64."));
  EXPECT_THAT(
      error_that_writes_nothing([&](std::vector<double>& output) {
        const Function function = rank() == 0 ? Function::min : Function::max;
        trine::mpi::reduce(function, input, output, 1, MPI_COMM_WORLD);
      }),
      HasSubstr("rank 0: reduce to rank 1: min of 10 f64; ranks 1 to 3: reduce to rank 1: max"));
}

TEST(Errors, ViewsThatDoNotFit) {
  const std::vector<double> input(10, 1);
  const std::string at = "invalid_argument: On rank " + std::to_string(size() - 1) + ": ";
  const auto expect_words = [&](const std::string& sentence, auto&& call) {
    EXPECT_THAT(error_that_writes_nothing([&](std::vector<double>& output) {
                  if (rank() == size() - 1)
                    call(output);
                  else
                    trine::mpi::allreduce(Function::sum, input, output, MPI_COMM_WORLD);
                }),
                HasSubstr(at + sentence));
  };
  const auto expect = [&](const std::string& sentence, auto&& call) {
    expect_words("trine::mpi: " + sentence, call);
  };
  expect("the output has another number of elements than the input's 10", [&](auto& output) {
    trine::mpi::allreduce(Function::sum, input, std::span(output).first(9), MPI_COMM_WORLD);
  });
  expect("the output is of f64, and argmin of f64 gives i64", [&](auto& output) {
    trine::mpi::allreduce(Function::argmin, input, output, MPI_COMM_WORLD);
  });
  expect("the output overlaps the input", [&](auto& output) {
    trine::mpi::allreduce(Function::sum, std::span(output).first(9), std::span(output).last(9),
                          MPI_COMM_WORLD);
  });
  expect("the input is no dense vector", [&](auto& output) {
    auto strided = trine::host_vector(input.data(), trine::Dtype::f64, 5);
    strided.row_stride = 2;
    trine::mpi::allreduce(Function::sum, strided,
                          trine::host_vector(output.data(), trine::Dtype::f64, 5), MPI_COMM_WORLD);
  });
  expect_words("reduce: input: b64 can't be reduced", [&](auto& output) {
    trine::mpi::allreduce(Function::sum, trine::host_vector(input.data(), trine::Dtype::b64, 10),
                          trine::host_vector(output.data(), trine::Dtype::b64, 10), MPI_COMM_WORLD);
  });
  expect("HostOptions::event", [&](auto& output) {
    trine::Event event;
    trine::mpi::allreduce(Function::sum, input, output, MPI_COMM_WORLD, {.event = &event});
  });
  // Also where no device is asked: one rank, or one number each.
  for (const size_t length : {size_t{1}, input.size()})
    expect("numerics can be asked for as 'reproducible', 'fast' or 'exact', not 'vendor'",
           [&](auto& output) {
             trine::mpi::allreduce(Function::sum, std::span(input).first(length),
                                   std::span(output).first(length), MPI_COMM_WORLD,
                                   {.numerics = trine::Numerics::vendor});
           });
}

TEST(Errors, OfAnUnknownWordInTheEnvironment) {
  const char* const word = std::getenv("TRINE_MPI_DEVICE_MEMORY");
  if (word == nullptr || word != std::string_view("Direct")) GTEST_SKIP() << "no such word is set";
  Resident on("@cpu");
  std::vector<double> ones(10, 1), sums(10);
  const trine::View input = on.upload(ones), output = on.upload(sums);
  EXPECT_THAT(error_of_all([&] {
                trine::mpi::allreduce(Function::sum, on.queue, input, output, MPI_COMM_WORLD);
              }),
              HasSubstr("TRINE_MPI_DEVICE_MEMORY is 'Direct'; it is direct or staged."));
}

// Options are a rank's own; which messages follow, all ranks must see alike.
TEST(Errors, OptionsThatDifferChangeNothing) {
  const double mine = rank() + 1;
  double all = 0;
  for (int call = 0; call < 2; ++call) {
    trine::Choice choice;
    const bool asks = rank() == size() - 1;
    trine::mpi::allreduce(Function::sum, std::span(&mine, 1), std::span(&all, 1), MPI_COMM_WORLD,
                          {.device = "cpu", .choice = asks ? &choice : nullptr});
    EXPECT_EQ(all, size() * (size() + 1) / 2);
    EXPECT_EQ(choice.why.empty(), !asks);
  }
  EXPECT_THAT(error_of_all([&] {
                trine::mpi::allreduce(Function::sum, std::span(&mine, 1), std::span(&all, 1),
                                      MPI_COMM_WORLD, {.rung = rank() == 0 ? "abacus" : ""});
              }),
              HasSubstr("not_found: On rank 0: "));
}

TEST(Errors, ARootThatIsNoRank) {
  for (const int root : {-1, -2, size(), std::numeric_limits<int>::max()}) {
    trine::ExactSum sum;
    const auto text = error_of_all([&] { trine::mpi::reduce(sum, root, MPI_COMM_WORLD); });
    EXPECT_THAT(text,
                HasSubstr("the root is rank " + std::to_string(root) + " of a communicator with"));
    EXPECT_EQ(sum, trine::ExactSum());
    const auto elementwise = error_that_writes_nothing([&](std::vector<double>& output) {
      trine::mpi::reduce(Function::sum, output, output, root, MPI_COMM_WORLD);
    });
    EXPECT_EQ(elementwise, text);
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
  const std::vector<int32_t> x(2);  // their sum needs a device, also on one rank
  std::vector<int64_t> sums(2);
  ledger::fail_next(ledger::Fails::allreduce);
  EXPECT_THAT(error_of_all([&] {
                trine::mpi::allreduce(Function::sum, x, sums, MPI_COMM_WORLD, {.device = "cpu"});
              }),
              HasSubstr("backend_error: MPI_Allreduce failed: "));
}

TEST(Errors, OfMpiNameTheFunctionThatFailed) {
  trine::ExactSum sum;
  ledger::fail_next(ledger::Fails::allreduce);
  EXPECT_THAT(error_of_all([&] { trine::mpi::iallreduce(sum, MPI_COMM_WORLD).wait(); }),
              HasSubstr("backend_error: MPI_Iallreduce failed: "));
}

TEST(Errors, OfMpiInTheFirstCallLeaveNoCommunicator) {
  EXPECT_EQ(trine::mpi::sum(std::vector<double>{1}, MPI_COMM_WORLD), size());
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int before = ledger::open();
  ledger::fail_next(ledger::Fails::allreduce);
  EXPECT_THAT(error_of_all([&] { trine::mpi::sum(std::vector<double>{1}, comm); }),
              HasSubstr("backend_error: MPI_Allreduce failed"));
  EXPECT_EQ(ledger::open(), before);
  EXPECT_EQ(trine::mpi::sum(std::vector<double>{1}, comm), size());
  PMPI_Comm_free(&comm);
}

}  // namespace
