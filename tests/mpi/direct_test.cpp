// Whether MPI is given a GPU's memory itself: on the fake CUDA driver, whose memory MPI can read,
// with an MPI that says that it takes such pointers, or doesn't. The driver computes nothing, so
// this transposes what takes copies alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "errors.hpp"
#include "ledger.hpp"
#include "matrices.hpp"
#include "mpi/src/place.hpp"
#include "on_devices.hpp"

namespace {
bool has(const char* variable) { return std::getenv(variable) != nullptr; }
}  // namespace

extern "C" [[gnu::visibility("default")]] int MPIX_Query_cuda_support() {
  return has("TRINE_TEST_MPI_CLAIMS") ? 1 : 0;
}

namespace {

using namespace ranks;
using trine::Dtype;

TEST(DeviceMemory, IsGivenToMpiWhereItTakesIt) {
  EXPECT_EQ(trine::mpi::detail::takes_memory_of(trine::open("cuda:0")), has("TRINE_TEST_DIRECT"));
}

/// The driver doesn't compute the sums.
TEST(DeviceMemory, IsReadByMpiInCallsThatBlockAlone) {
  Resident on("@cuda:0");
  std::vector<double> ones(100, 1), sums(100);
  const trine::View input = on.upload(ones), output = on.upload(sums);
  const auto is_read = [&] { return ledger::last_sent() == input.buffer.native(); };
  trine::mpi::iallreduce(trine::Function::sum, on.queue, input, output, MPI_COMM_WORLD).wait();
  EXPECT_FALSE(is_read());
  trine::mpi::allreduce(trine::Function::sum, on.queue, input, output, MPI_COMM_WORLD);
  EXPECT_EQ(is_read(), has("TRINE_TEST_DIRECT"));
  trine::mpi::iallreduce(trine::Function::sum, on.queue, input, output, MPI_COMM_WORLD).wait();
  EXPECT_FALSE(is_read());
}

/// The next call may be one that gives MPI device memory, or one that doesn't.
TEST(DeviceMemory, IsKeptForCallsOfItsKind) {
  using trine::mpi::detail::Memory;
  const trine::Device cuda = trine::open("cuda:0");
  const bool is_claimed = has("TRINE_TEST_DIRECT");
  Memory memory;
  const auto is_one = [&] { return memory.data() == memory.buffer().native(); };
  for (const bool is_taken : {false, true, false, true}) {
    memory.of(100, cuda, Memory::Ends::both, is_taken && is_claimed);
    EXPECT_EQ(is_one(), is_taken && is_claimed);
  }
}

TEST(DeviceMemory, ArrivesEitherWay) {
  for (const int64_t bytes : {int64_t{16 * 8 * 500}, int64_t{1} << 26}) {
    trine::mpi::detail::chunk_bytes = bytes;
    for (int shape = 0; shape < 4; ++shape) {
      const bool is_a_down = shape % 2 == 0, is_b_down = shape / 2 == 0;
      // Runs of more than one row: single elements lie neither way.
      const Distribution of_a = {.rows = 60,
                                 .cols = 43,
                                 .block_rows = 10,
                                 .block_cols = 4,
                                 .grid_rows = is_a_down ? size() : 1,
                                 .grid_cols = is_a_down ? 1 : size()};
      const Distribution of_b = {.rows = 43,
                                 .cols = 60,
                                 .block_rows = 5,
                                 .block_cols = 20,
                                 .grid_rows = is_b_down ? size() : 1,
                                 .grid_cols = is_b_down ? 1 : size()};
      std::vector<double> whole(60 * 43), turned(whole.size());
      for (size_t i = 0; i < whole.size(); ++i) whole[i] = double(i);
      for (size_t i = 0; i < whole.size(); ++i) turned[i % 43 * 60 + i / 43] = whole[i];
      Part<double> a(of_a, Layout::columns, whole), b(of_b, Layout::rows, turned);
      const auto expected = b.memory;
      std::ranges::fill(b.memory, 7);
      transpose(a, b, Dtype::f64, {.device = "@cuda:0"});
      EXPECT_EQ(b.memory, expected)
          << testing::PrintToString(of_a) << " -> " << testing::PrintToString(of_b);
      ++cases;
    }
  }
  trine::mpi::detail::chunk_bytes = int64_t{1} << 26;
}

TEST(DeviceMemory, SumsOneNumberToo) {
  Resident on("@cuda:0");
  std::vector<double> one = {0.1 * rank()}, sum = {7}, all;
  for (int i = 0; i < size(); ++i) all.push_back(0.1 * i);
  const trine::View input = on.upload(one), output = on.upload(sum);
  trine::mpi::allreduce(trine::Function::sum, on.queue, input, output, MPI_COMM_WORLD);
  on.download();
  EXPECT_EQ(sum[0], trine::sum(all, {.device = "cpu"}));
}

/// The last test, as the last rank's device stays broken.
TEST(LostDevice, IsToldToAllRanks) {
  Resident on("@cuda:0");
  std::vector<double> ones(100, 1), sums(100);
  const trine::View input = on.upload(ones), output = on.upload(sums);
  on.queue.wait();
  if (rank() == size() - 1) {
    setenv("FAKE_CUDA_BREAKS", "1", 1);
    EXPECT_THROW(on.download(), trine::Error);
  }
  const std::string text = error_of_all([&] {
    trine::mpi::allreduce(trine::Function::sum, on.queue, input, output, MPI_COMM_WORLD);
  });
  EXPECT_TRUE(text.starts_with("device_lost: On rank " + std::to_string(size() - 1))) << text;
}

}  // namespace
