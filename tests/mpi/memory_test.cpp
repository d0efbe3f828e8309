// The n-th allocation fails on one rank alone, the first or the last, for each n that a call has:
// then all ranks throw out_of_memory, or the call goes well. A rank that threw alone would leave
// the others waiting, and this test with them.
#include <gmock/gmock.h>

#include <trine/mpi_sums.hpp>

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

/// Makes the call with the n-th allocation of rank `at` failing. Returns its error, and whether the
/// allocation was made.
template <class Call>
std::string error_without(int n, int at, Call&& call, bool& has_fired) {
  return error_of([&] {
    if (rank() == at) left = n;
    std::exception_ptr failure;
    try {
      call();
    } catch (...) { failure = std::current_exception(); }
    has_fired = left < 0, left = -1;
    if (failure) std::rethrow_exception(failure);
  });
}

/// Calls again and again, until rank `at` has one allocation less than the one that shall fail.
template <class Call>
void fail_each_allocation_at(int at, Call&& call) {
  int failed = 0;
  bool has_fired = true;
  for (int n = 0; all(has_fired || rank() != at); ++n) {
    ASSERT_LT(n, 2000);
    const std::string text = error_without(n, at, call, has_fired);
    EXPECT_TRUE(all(text == "nothing") || all(text != "nothing")) << n << ": " << text;
    if (text != "nothing") {
      EXPECT_THAT(text, HasSubstr("exhausted"));
      ++failed;
    }
    EXPECT_EQ(trine::mpi::sum(std::vector<double>{1}, MPI_COMM_WORLD), size());
  }
  EXPECT_GT(failed, 0);
}
/// The same for the last rank and the first, which is the root of reductions.
template <class Call>
void fail_each_allocation(Call&& call) {
  call();  // what is made once is there
  fail_each_allocation_at(size() - 1, call);
  if (size() > 1) fail_each_allocation_at(0, call);
}

class Memory : public testing::Test {
 public:
  void SetUp() override { trine::mpi::detail::chunk_bytes = 2000; }
  void TearDown() override { trine::mpi::detail::chunk_bytes = int64_t{1} << 26; }

 protected:
  static trine::ConstHostView part_of(const std::vector<double>& values) {
    return trine::host_vector(values.data(), trine::Dtype::f64, int64_t(values.size()));
  }
  const MPI_Comm world_ = MPI_COMM_WORLD;
  const int64_t first_ = 100 * int64_t{rank()};
  const std::vector<double> mine_ = std::vector<double>(100, 1.1);
  std::vector<double> all_ = std::vector<double>(100);
};

TEST_F(Memory, OfAChannel) {
  fail_each_allocation([] {
    MPI_Comm comm = MPI_COMM_NULL;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    trine::ExactSum sum;
    std::exception_ptr failure;
    try {
      trine::mpi::allreduce(sum, comm);
    } catch (...) { failure = std::current_exception(); }
    PMPI_Comm_free(&comm);
    if (failure) std::rethrow_exception(failure);
  });
}

TEST_F(Memory, OfReductionsOfDistributedArrays) {
  using trine::Map;
  fail_each_allocation([&] { trine::mpi::sum(mine_, world_, kCpu); });
  fail_each_allocation([&] { trine::mpi::argmin(mine_, first_, world_, kCpu); });
  for (const Function function : {Function::prod, Function::sum})
    fail_each_allocation([&] {
      trine::mpi::partial(function, part_of(mine_), first_, Map::identity, world_, kCpu);
    });
}

TEST_F(Memory, OfCallsThatMerge) {
  trine::Partial product(Function::prod, trine::Dtype::f64);  // whose blocks all ranks gather
  product.add(mine_, first_, kCpu);
  fail_each_allocation([&] {
    // All, or the first error: what follows it on a rank would be another call.
    trine::ExactSum sum;
    trine::Partial whole = product;
    trine::mpi::reduce(sum, 0, world_);
    trine::mpi::reduce(whole, 0, world_);
    trine::mpi::reduce(Function::sum, mine_, all_, 0, world_, kCpu);
  });
  fail_each_allocation([&] {
    trine::ExactSum sum;
    trine::Partial whole = product, on_last = product;
    trine::mpi::iallreduce(sum, world_).wait();
    trine::mpi::iallreduce(whole, world_).wait();
    trine::mpi::iallreduce(Function::max, mine_, all_, world_, kCpu).wait();
    trine::mpi::ireduce(sum, 0, world_).wait();
    trine::mpi::ireduce(on_last, size() - 1, world_).wait();
    trine::mpi::ireduce(Function::max, mine_, all_, 0, world_, kCpu).wait();
  });
}

TEST_F(Memory, OfFields) {
  std::vector<double> sums(3), mine(100, 1e-300);
  mine[7] = 1e300;  // a second message
  const trine::ConstHostView values = trine::mpi::fields(mine.data(), 100);
  const std::vector<trine::mpi::Fields> list = {{.values = values, .weights = values},
                                                {.values = values},
                                                {.values = values, .mask = part_of(mine_)}};
  fail_each_allocation([&] { trine::mpi::sums(list, sums, world_, kCpu); });
  fail_each_allocation([&] {
    trine::mpi::reduce_fields(Function::min, {&list[1], 2}, std::span(sums).first(2), world_);
  });
  Resident on("@cpu");
  const trine::View there = on.upload(mine);
  const trine::mpi::DeviceFields fields[] = {{.values = there}, {.values = there, .mask = there}};
  fail_each_allocation(
      [&] { trine::mpi::sums(on.queue, fields, std::span(sums).first(2), world_); });
}

TEST_F(Memory, OfVectors) {
  const std::vector<int32_t> mine(100, 1);  // a device sums them on one rank, too
  std::vector<int64_t> sums(100);
  fail_each_allocation([&] { trine::mpi::allreduce(Function::sum, mine, sums, world_, kCpu); });
}

TEST_F(Memory, OfMatricesAndOfCallsOnDevices) {
  const Distribution d = distribution(5, 40, 40);
  Part<double> a(d, Layout::columns, std::vector<double>(1600, 1)), b = a;
  const auto from = a.matrix(trine::Dtype::f64), to = b.matrix(trine::Dtype::f64);
  fail_each_allocation([&] { trine::mpi::transpose(from, to, world_, kCpu); });
  for (const auto numerics : {trine::Numerics::reproducible, trine::Numerics::exact})
    fail_each_allocation([&] {
      trine::mpi::gemm(1, from, from, 0.5, to, world_, {.device = "cpu", .numerics = numerics});
    });

  std::vector<double> mine(500, 1.1);
  Resident on("@cpu");
  const auto here = on.upload(a, trine::Dtype::f64), there = on.upload(b, trine::Dtype::f64);
  const trine::View input = on.upload(mine);  // in place: one rank alone reduces others at once
  const Function sum = Function::sum;
  fail_each_allocation([&] { trine::mpi::transpose(on.queue, here, there, world_); });
  fail_each_allocation([&] { trine::mpi::gemm(on.queue, 1, here, here, 0.5, there, world_); });
  fail_each_allocation([&] { trine::mpi::allreduce(sum, on.queue, input, input, world_); });
  fail_each_allocation([&] { trine::mpi::iallreduce(sum, on.queue, input, input, world_).wait(); });
}

/// All of a call that fails on one rank for another reason, the reports too.
TEST_F(Memory, OfReports) {
  const std::string device = rank() == 0 ? "abacus" : "cpu";
  const auto call = [&] { trine::mpi::sum(mine_, world_, {.device = device}); };
  std::string text = error_of(call);  // what is made once is there
  bool has_fired = true;
  for (int n = 0; all(has_fired || rank() != size() - 1); ++n) {
    ASSERT_LT(n, 2000);
    text = error_without(n, size() - 1, call, has_fired);
    EXPECT_TRUE(all(text != "nothing")) << n;
  }
  EXPECT_THAT(text, HasSubstr("not_found: On rank 0: No device is called 'abacus'"));
}

}  // namespace
