// Calls that don't block: many at once, waited for in any order, with errors in between.
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>

#include "on_devices.hpp"

namespace {

using namespace ranks;
using trine::Function;
using trine::mpi::Request;

/// The values that rank `rank` brings to call `call`, and their sum over all ranks.
std::vector<double> input_of(int call, int rank) {
  return make<double>(Values::cancelling, uint64_t(1000 * int64_t{call} + rank), call * 7 % 50 + 1);
}
std::vector<double> sum_of(int call) {
  std::vector<double> sums;
  for (size_t i = 0; i < input_of(call, 0).size(); ++i) {
    std::vector<double> column;
    column.reserve(size_t(size()));
    for (int other = 0; other < size(); ++other) column.push_back(input_of(call, other)[i]);
    sums.push_back(trine::sum(column, {.device = "cpu"}));
  }
  return sums;
}

TEST(Requests, OnDevicesManyAtOnce) {
  constexpr size_t kCalls = 8;
  for (const int64_t bytes : {100, 1 << 20}) {
    trine::mpi::detail::chunk_bytes = bytes;
    for (const auto& job : jobs_and_resident_ones()) {
      const std::string device = device_of(job);
      if (!all(is_resident(device))) continue;
      Resident on(device);
      std::vector<std::vector<double>> inputs, outputs;
      for (size_t i = 0; i < kCalls; ++i) {
        inputs.push_back(input_of(int(i), rank()));
        outputs.emplace_back(inputs.back().size(), 77);
      }
      std::vector<Request> requests;
      for (size_t i = 0; i < kCalls; ++i) {
        const trine::View input = on.upload(inputs[i]);
        requests.push_back(trine::mpi::iallreduce(Function::sum, on.queue, input,
                                                  on.upload(outputs[i]), MPI_COMM_WORLD));
      }
      for (size_t i = 0; i < kCalls; ++i)  // each rank in an order of its own
        requests[(i * 3 + size_t(rank())) % kCalls].wait();
      on.download();
      for (size_t i = 0; i < kCalls; ++i) EXPECT_EQ(outputs[i], sum_of(int(i))) << i;
      cases += kCalls;
    }
  }
  trine::mpi::detail::chunk_bytes = int64_t{1} << 26;
}

TEST(Requests, EndBeforeWhatTheQueueIsAskedForLater) {
  Resident on("@cpu");
  std::vector<double> input = input_of(5, rank()), output(input.size());
  const trine::View from = on.upload(input), to = on.upload(output);
  Request request = trine::mpi::iallreduce(Function::sum, on.queue, from, to, MPI_COMM_WORLD);
  constexpr int64_t kExtent = 640;
  std::vector<double> factor(kExtent * kExtent, 1), product(factor.size());
  const auto square = trine::host_row_major(factor.data(), trine::Dtype::f64, kExtent, kExtent);
  const trine::View a = on.upload(factor, square), c = on.upload(product, square);
  for (int i = 0; i < (kIsSanitized ? 2 : 20); ++i)
    trine::run(on.queue, trine::Gemm{.alpha = 1, .a = a, .b = a, .c = c});
  while (!request.test()) std::this_thread::yield();
  EXPECT_FALSE(on.queue.done());
  on.download();
  EXPECT_EQ(output, sum_of(5));
}

TEST(Requests, ManyAtOnceWaitedForInAnyOrder) {
  constexpr int kCalls = 20;
  trine::mpi::detail::chunk_bytes = 100;
  std::vector<std::vector<double>> inputs, outputs;
  for (int call = 0; call < kCalls; ++call) {
    inputs.push_back(input_of(call, rank()));
    outputs.emplace_back(inputs.back().size(), 77);
  }
  std::vector<Request> requests;
  for (size_t i = 0; i < kCalls; ++i)
    requests.push_back(
        i % 3 == 0 ? trine::mpi::ireduce(Function::sum, inputs[i], outputs[i], int(i) % size(),
                                         MPI_COMM_WORLD)
                   : trine::mpi::iallreduce(Function::sum, inputs[i], outputs[i], MPI_COMM_WORLD));
  trine::ExactSum exact;
  exact.add(inputs[3]);
  Request last = trine::mpi::iallreduce(exact, MPI_COMM_WORLD);
  if (rank() % 2 == 0) last.wait();
  for (size_t i = 0; i < kCalls; ++i) {  // each rank in an order of its own
    const size_t call = (i * 7 + size_t(rank())) % kCalls;
    requests[call].wait();
    EXPECT_TRUE(requests[call].test());
    const bool is_mine = call % 3 != 0 || int(call) % size() == rank();
    EXPECT_EQ(outputs[call],
              is_mine ? sum_of(int(call)) : std::vector<double>(outputs[call].size(), 77));
  }
  last.wait();
  trine::ExactSum expected;
  for (int other = 0; other < size(); ++other) expected.add(input_of(3, other));
  EXPECT_EQ(exact, expected);
  trine::mpi::detail::chunk_bytes = int64_t{1} << 26;
}

TEST(Requests, EndByTestByTheirDestructorAndBeforeACallThatBlocks) {
  const std::vector<double> input = input_of(5, rank()), expected = sum_of(5);
  std::vector<double> by_test(input.size()), by_end(input.size()), before(input.size());
  Request request = trine::mpi::iallreduce(Function::sum, input, by_test, MPI_COMM_WORLD);
  while (!request.test()) std::this_thread::yield();
  EXPECT_EQ(by_test, expected);
  { const Request dropped = trine::mpi::iallreduce(Function::sum, input, by_end, MPI_COMM_WORLD); }
  EXPECT_EQ(by_end, expected);
  request = trine::mpi::iallreduce(Function::sum, input, before, MPI_COMM_WORLD);
  EXPECT_EQ(trine::mpi::sum(std::vector<double>{1}, MPI_COMM_WORLD), size());
  EXPECT_EQ(before, expected);
  request.wait();
  Request().wait();
}

TEST(Requests, ErrorsComeFromWaitOnAllRanksAndHarmNoOther) {
  const std::vector<double> input = input_of(7, rank()), expected = sum_of(7);
  std::vector<double> first(input.size()), second(input.size(), 77), third(input.size());
  Request one = trine::mpi::iallreduce(Function::sum, input, first, MPI_COMM_WORLD);
  const size_t length = input.size() - (rank() == size() - 1 ? 1 : 0);
  Request two =
      trine::mpi::iallreduce(Function::sum, input, std::span(second).first(length), MPI_COMM_WORLD);
  Request three = trine::mpi::iallreduce(Function::sum, input, third, MPI_COMM_WORLD);
  three.wait();
  EXPECT_EQ(third, expected);
  std::string text;
  try {
    two.wait();
  } catch (const trine::Error& error) { text = error.what(); }
  EXPECT_THAT(text, testing::StartsWith("On rank " + std::to_string(size() - 1) +
                                        ": trine::mpi: the output has"));
  EXPECT_TRUE(same_on_all(text));
  EXPECT_THAT(second, testing::Each(77.0));
  EXPECT_TRUE(two.test());
  one.wait();
  EXPECT_EQ(first, expected);
}

TEST(Requests, OnTwoCommunicatorsAreWaitedForInAnyOrder) {
  using Clock = std::chrono::steady_clock;
  const std::vector<double> input = input_of(9, rank());
  MPI_Comm comms[2];
  std::vector<double> outputs[2] = {input, input};
  Request requests[2];
  for (MPI_Comm& comm : comms) {
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    EXPECT_EQ(trine::mpi::sum(std::vector<double>{1}, comm), size());  // the first call waits
  }
  const int first = rank() % 2;
  for (const int i : {first, 1 - first})
    requests[i] = trine::mpi::iallreduce(Function::sum, input, outputs[i], comms[i]);
  const auto limit = Clock::now() + std::chrono::seconds(20);
  bool has_ended = false;
  while (!(has_ended = requests[first].test()) && Clock::now() < limit) std::this_thread::yield();
  EXPECT_TRUE(has_ended);
  for (Request& request : requests) request.wait();
  for (const auto& output : outputs) EXPECT_EQ(output, sum_of(9));
  for (MPI_Comm& comm : comms) PMPI_Comm_free(&comm);
}

/// A rank that hangs ends the job.
TEST(Requests, OnTwoCommunicatorsEndInWhateverOrderRanksFreeThem) {
  const std::vector<double> input = input_of(9, rank());
  MPI_Comm comms[2];
  std::vector<double> outputs[2] = {input, input};
  Request requests[2];
  for (MPI_Comm& comm : comms) PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (const int i : {0, 1})
    requests[i] = trine::mpi::iallreduce(Function::sum, input, outputs[i], comms[i]);
  alarm(20);
  for (const int i : {rank() % 2, 1 - rank() % 2}) PMPI_Comm_free(&comms[i]);
  alarm(0);
  for (Request& request : requests) request.wait();
  for (const auto& output : outputs) EXPECT_EQ(output, sum_of(9));
}

/// Rank 0 enters both while the first can't end, so the second has yet to begin when MPI_Finalize
/// ends them (main.cpp then counts what is left). They outlive it, as the sums do.
TEST(Requests, ThatMpiFinalizeFindsEnd) {
  static trine::ExactSum sums[2];
  static std::vector<Request> requests;
  MPI_Comm comm = MPI_COMM_NULL;  // its own, which no later call ends; left to MPI_Finalize
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  trine::mpi::allreduce(sums[0], comm);  // makes what stays with the communicator
  if (rank() != 0) MPI_Barrier(MPI_COMM_WORLD);
  for (trine::ExactSum& sum : sums) requests.push_back(trine::mpi::iallreduce(sum, comm));
  if (rank() == 0) MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
