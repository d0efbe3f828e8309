// The n-th allocation fails on one rank alone, the first or the last, for each n that a call has: then all ranks throw
// out_of_memory, or the call goes well. A rank that threw alone would leave the others waiting, and this test with them.
#include <gmock/gmock.h>

#include <cstdlib>
#include <new>

#include "errors.hpp"
#include "matrices.hpp"
#include "on_devices.hpp"

namespace {
thread_local int left = -1;  ///< allocations of this thread before one fails; -1: none does
}  // namespace

#ifndef __clang_analyzer__  // which takes what GoogleTest keeps for leaks of malloc()
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (left >= 0 && left-- == 0) throw std::bad_alloc();
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }
#endif

namespace {

using namespace ranks;
using testing::HasSubstr;
using trine::Function;
using trine::HostOptions;

const HostOptions kCpu = {.device = "cpu"};

/// Calls again and again, until rank `at` has one allocation less than the one that shall fail.
template <class Call>
void fail_each_allocation_at(int at, Call&& call) {
  int failed = 0;
  for (int n = 0;; ++n) {
    ASSERT_LT(n, 2000);
    bool has_fired = false;
    const std::string text = error_of([&] {
      if (rank() == at) left = n;
      try {
        call();
      } catch (...) {
        has_fired = left < 0, left = -1;
        throw;
      }
      has_fired = left < 0, left = -1;
    });
    EXPECT_TRUE(all(text == "nothing") || all(text != "nothing")) << n << ": " << text;
    if (text != "nothing") {
      EXPECT_THAT(text, HasSubstr("exhausted"));
      ++failed;
    }
    EXPECT_EQ(trine::mpi::sum(std::vector<double>{1}, MPI_COMM_WORLD), size());
    if (!all(has_fired || rank() != at)) break;
  }
  EXPECT_GT(failed, 0);
}
/// Of the last rank and of the first, which is the root of reductions.
template <class Call>
void fail_each_allocation(Call&& call) {
  call();  // what is made once is there
  fail_each_allocation_at(size() - 1, call);
  if (size() > 1) fail_each_allocation_at(0, call);
}

/// A product of floats, whose blocks all ranks gather.
trine::Partial product_of_mine() {
  trine::Partial product(Function::prod, trine::Dtype::f64);
  product.add(std::vector<double>(100, 1.1), 100 * rank(), kCpu);
  return product;
}

class Memory : public testing::Test {
 public:
  void SetUp() override { trine::mpi::detail::piece_bytes = 2000; }
  void TearDown() override { trine::mpi::detail::piece_bytes = int64_t{1} << 26; }
};

TEST_F(Memory, OfAChannel) {
  fail_each_allocation([] {
    MPI_Comm comm = MPI_COMM_NULL;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    trine::ExactSum sum;
    try {
      trine::mpi::allreduce(sum, comm);
    } catch (...) {
      PMPI_Comm_free(&comm);
      throw;
    }
    PMPI_Comm_free(&comm);
  });
}

TEST_F(Memory, OfSums) {
  const std::vector<double> mine(100, 0.1);
  fail_each_allocation([&] { trine::mpi::sum(mine, MPI_COMM_WORLD, kCpu); });
}

TEST_F(Memory, OfProducts) {
  const std::vector<double> mine(100, 1.1);
  const auto part = trine::host_vector(mine.data(), trine::Dtype::f64, 100);
  fail_each_allocation([&] {
    trine::mpi::partial(Function::prod, part, 100 * rank(), trine::Map::identity, MPI_COMM_WORLD,
                        kCpu);
  });
}

TEST_F(Memory, OfExtrema) {
  const std::vector<float> mine(100, 1.1F);
  fail_each_allocation([&] { trine::mpi::argmin(mine, 100 * rank(), MPI_COMM_WORLD, kCpu); });
}

TEST_F(Memory, OfSumsThatPartialsAre) {
  const std::vector<float> mine(100, 0.1F);
  const auto part = trine::host_vector(mine.data(), trine::Dtype::f32, 100);
  fail_each_allocation(
      [&] { trine::mpi::partial(Function::sum, part, 0, trine::Map::abs, MPI_COMM_WORLD, kCpu); });
}

TEST_F(Memory, OfReductionsToOneRank) {
  const std::vector<double> mine(100, 1.1);
  std::vector<double> all_of(100);
  const trine::Partial product = product_of_mine();
  fail_each_allocation([&] {
    // All, or the first error: what follows it on a rank would be another call.
    trine::ExactSum sum;
    trine::Partial whole = product;
    trine::mpi::reduce(sum, 0, MPI_COMM_WORLD);
    trine::mpi::reduce(whole, 0, MPI_COMM_WORLD);
    trine::mpi::reduce(Function::sum, mine, all_of, 0, MPI_COMM_WORLD, kCpu);
  });
}

TEST_F(Memory, OfVectors) {
  const std::vector<int32_t> mine(100, 1);  // a device sums them on one rank, too
  std::vector<int64_t> all_of(100);
  fail_each_allocation(
      [&] { trine::mpi::allreduce(Function::sum, mine, all_of, MPI_COMM_WORLD, kCpu); });
}

TEST_F(Memory, OfCallsThatDoNotBlock) {
  const std::vector<double> mine(100, 1.1);
  std::vector<double> all_of(100);
  const trine::Partial product = product_of_mine();
  fail_each_allocation([&] {
    trine::ExactSum sum;
    trine::Partial whole = product, on_last = product;
    trine::mpi::iallreduce(sum, MPI_COMM_WORLD).wait();
    trine::mpi::iallreduce(whole, MPI_COMM_WORLD).wait();
    trine::mpi::iallreduce(Function::max, mine, all_of, MPI_COMM_WORLD, kCpu).wait();
    trine::mpi::ireduce(sum, 0, MPI_COMM_WORLD).wait();
    trine::mpi::ireduce(on_last, size() - 1, MPI_COMM_WORLD).wait();
    trine::mpi::ireduce(Function::max, mine, all_of, 0, MPI_COMM_WORLD, kCpu).wait();
  });
}

TEST_F(Memory, OfTransposes) {
  const Distribution d = distribution(5, 40, 40);
  Part<double> a(d, Layout::columns, std::vector<double>(1600, 1)), b = a;
  const auto from = a.matrix(trine::Dtype::f64), to = b.matrix(trine::Dtype::f64);
  fail_each_allocation([&] { trine::mpi::transpose(from, to, MPI_COMM_WORLD, kCpu); });
}

TEST_F(Memory, OfProductsOfMatrices) {
  const Distribution d = distribution(5, 40, 40);
  Part<double> a(d, Layout::columns, std::vector<double>(1600, 1)), b = a;
  const auto from = a.matrix(trine::Dtype::f64), to = b.matrix(trine::Dtype::f64);
  fail_each_allocation([&] { trine::mpi::gemm(1, from, from, 0.5, to, MPI_COMM_WORLD, kCpu); });
}

TEST_F(Memory, OfCallsOnDevices) {
  const Distribution d = distribution(5, 40, 40);
  Part<double> a(d, Layout::columns, std::vector<double>(1600, 1)), b = a;
  std::vector<double> mine(500, 1.1);
  Resident on("@cpu");
  const auto from = on.upload(a, trine::Dtype::f64), to = on.upload(b, trine::Dtype::f64);
  const trine::View input = on.upload(mine);  // in place: one rank alone reduces others at once
  fail_each_allocation([&] { trine::mpi::transpose(on.queue, from, to, MPI_COMM_WORLD); });
  fail_each_allocation([&] { trine::mpi::gemm(on.queue, 1, from, from, 0.5, to, MPI_COMM_WORLD); });
  fail_each_allocation(
      [&] { trine::mpi::allreduce(Function::sum, on.queue, input, input, MPI_COMM_WORLD); });
  fail_each_allocation([&] {
    trine::mpi::iallreduce(Function::sum, on.queue, input, input, MPI_COMM_WORLD).wait();
  });
}

/// All of a call that fails on one rank for another reason, the reports too.
TEST_F(Memory, OfReports) {
  const std::vector<double> mine(100, 0.1);
  const std::string device = rank() == 0 ? "abacus" : "cpu";
  const auto call = [&] { trine::mpi::sum(mine, MPI_COMM_WORLD, {.device = device}); };
  std::string text = error_of(call);  // what is made once is there
  bool has_fired = true;
  for (int n = 0; all(has_fired || rank() != size() - 1); ++n) {
    ASSERT_LT(n, 2000);
    text = error_of([&] {
      if (rank() == size() - 1) left = n;
      try {
        call();
      } catch (...) {
        has_fired = left < 0, left = -1;
        throw;
      }
    });
    EXPECT_TRUE(all(text != "nothing")) << n;
  }
  EXPECT_THAT(text, HasSubstr("not_found: On rank 0: No device is called 'abacus'"));
}

}  // namespace
