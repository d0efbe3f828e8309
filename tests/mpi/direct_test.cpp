// Whether MPI is given a GPU's memory itself: on the fake CUDA driver, whose memory MPI can read, with an MPI that says
// that it takes such pointers, or doesn't. The driver computes nothing, so this transposes what takes copies alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "matrices.hpp"
#include "on_devices.hpp"

namespace trine::mpi::detail {
bool takes_memory_of(const Device& device);  // mpi/src/place.hpp
}

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

TEST(DeviceMemory, ArrivesEitherWay) {
  for (const int64_t bytes : {int64_t{16 * 8 * 500}, int64_t{1} << 26}) {
    trine::mpi::detail::piece_bytes = bytes;
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
  trine::mpi::detail::piece_bytes = int64_t{1} << 26;
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

}  // namespace
