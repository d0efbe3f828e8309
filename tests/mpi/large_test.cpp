// More bytes, and more elements, than MPI's counts hold. Memory of this size is a few MiB that a
// view has again and again, so results are the same wherever that memory is: a place that is missed
// or mixed up shows within its period.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ledger.hpp"
#include "matrices.hpp"

namespace {

using namespace ranks;
using trine::Dtype;
using trine::Function;

/// Elements that are the same every `period` of them, a multiple of 4096 bytes.
template <class T>
class Repeated {
 public:
  Repeated(int64_t length, int64_t period) : period_(period) {
    const auto bytes = size_t(period) * sizeof(T);
    size_ = (size_t(length) * sizeof(T) + bytes - 1) / bytes * bytes;
    const int file = memfd_create("period", 0);
    auto* const all = static_cast<std::byte*>(
        mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    is_there_ = file >= 0 && ftruncate(file, off_t(bytes)) == 0 && all != MAP_FAILED;
    for (size_t at = 0; is_there_ && at < size_; at += bytes)
      is_there_ = mmap(all + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) !=
                  MAP_FAILED;
    close(file);
    data_ = reinterpret_cast<T*>(all);
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;
  ~Repeated() { munmap(data_, size_); }

  bool is_there() const { return is_there_; }
  T* data() { return data_; }
  /// The elements that are seen again and again.
  std::span<T> one() { return {data_, size_t(period_)}; }

 private:
  int64_t period_;
  size_t size_ = 0;
  bool is_there_ = false;
  T* data_ = nullptr;
};

constexpr int64_t kCounted = INT32_MAX;  // what an int holds

void expect_countable(const ledger::Messages& seen) {
  EXPECT_EQ(seen.wrong, 0);
  EXPECT_LE(seen.longest, kCounted);
}

TEST(Large, VectorsOfMoreElements) {
  constexpr int64_t kPeriod = 1 << 20;
  const int64_t length = (int64_t{1} << (size() == 1 ? 31 : 29)) + 12345;  // then bytes alone
  Repeated<float> input(length, kPeriod), output(length, kPeriod);
  ASSERT_TRUE(all(input.is_there() && output.is_there()));
  for (int64_t i = 0; i < kPeriod; ++i) input.one()[size_t(i)] = float(i + rank());
  ledger::messages();
  trine::mpi::allreduce(Function::max, trine::host_vector(input.data(), Dtype::f32, length),
                        trine::host_vector(output.data(), Dtype::f32, length), MPI_COMM_WORLD,
                        {.device = "cpu"});
  const ledger::Messages seen = ledger::messages();
  expect_countable(seen);
  EXPECT_GE(seen.bytes, size() > 1 ? length * 4 + 1 : 0);  // one rank copies
  int64_t wrong = 0;
  for (int64_t i = 0; i < kPeriod; ++i)
    if (output.one()[size_t(i)] != float(i + size() - 1)) ++wrong;
  EXPECT_EQ(wrong, 0);
}

/// Column i of b is row i of a, the same every 4096 rows.
TEST(Large, TransposesOfMoreBytesARank) {
  constexpr int64_t kPeriod = 4096, kCols = 4096;
  const int64_t local = (int64_t{1} << 19) + kPeriod, rows = local * size();
  const Distribution of_a = {
      .rows = rows, .cols = kCols, .block_rows = local, .block_cols = kCols, .grid_rows = size()};
  const Distribution of_b = {
      .rows = kCols, .cols = rows, .block_rows = kCols, .block_cols = kPeriod, .grid_cols = size()};
  Repeated<uint8_t> a(local * kCols, kCols * kPeriod), b(kCols * local, kCols * kPeriod);
  ASSERT_TRUE(all(a.is_there() && b.is_there()));
  const auto value = [](int64_t row) { return uint8_t(row % kPeriod * 37 >> 3); };
  for (int64_t at = 0; at < kCols * kPeriod; ++at) a.one()[size_t(at)] = value(at);
  const auto as_bytes = [](const Distribution& d, uint8_t* data) {
    return trine::mpi::Matrix{
        d, trine::host_col_major(data, Dtype::b8, d.local_rows(rank()), d.local_cols(rank()))};
  };
  ledger::messages();
  trine::mpi::transpose(as_bytes(of_a, a.data()), as_bytes(of_b, b.data()), MPI_COMM_WORLD,
                        {.device = "cpu"});
  const ledger::Messages seen = ledger::messages();
  expect_countable(seen);
  EXPECT_GE(seen.bytes, size() > 1 ? local * kCols / 3 : 0);  // about half stays here
  EXPECT_GT(local * kCols, kCounted);
  int64_t wrong = 0;
  for (int64_t i = 0; i < kPeriod; ++i)
    for (int64_t j = 0; j < kCols; ++j)
      if (b.one()[size_t(i * kCols + j)] != value(i)) ++wrong;
  EXPECT_EQ(wrong, 0);
}

/// Parts of more than 2^31 bytes each: a column times a number.
TEST(Large, ProductsOfMoreBytesARank) {
  constexpr int64_t kPeriod = 1 << 20, kRows = (int64_t{1} << 29) + 12345;
  const Distribution column = {
      .rows = kRows * size(), .cols = 1, .block_rows = kRows, .grid_rows = size()};
  const Distribution number = {.rows = 1, .cols = 1, .grid_rows = size()};
  Repeated<float> a(kRows, kPeriod), c(kRows, kPeriod);
  ASSERT_TRUE(all(a.is_there() && c.is_there()));
  for (int64_t i = 0; i < kPeriod; ++i) a.one()[size_t(i)] = float(i);
  float two = 2;
  trine::mpi::gemm(3, trine::mpi::matrix(column, a.data(), MPI_COMM_WORLD),
                   trine::mpi::matrix(number, &two, MPI_COMM_WORLD), 0,
                   trine::mpi::matrix(column, c.data(), MPI_COMM_WORLD), MPI_COMM_WORLD,
                   {.device = "cpu"});
  int64_t wrong = 0;
  for (int64_t i = 0; i < kPeriod; ++i)
    if (c.one()[size_t(i)] != float(6 * i)) ++wrong;
  EXPECT_EQ(wrong, 0);
}

/// An operand's part may be longer than a message; here messages are short.
TEST(Large, OperandsGoInMessagesThatMpiCounts) {
  trine::mpi::detail::message_bytes = 1000;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const Distribution d = distribution(seed, 70, 70);
    const auto whole = make<double>(Values::like, seed, 4900);
    std::vector<double> product(4900);
    trine::gemm(70, 70, 70, whole.data(), whole.data(), product.data(), {.device = "cpu"});
    Part<double> a(d, Layout::columns, whole), c = a;
    ledger::messages();
    trine::mpi::gemm(1, a.matrix(Dtype::f64), a.matrix(Dtype::f64), 0, c.matrix(Dtype::f64),
                     MPI_COMM_WORLD, {.device = "cpu"});
    EXPECT_LE(ledger::messages().longest, 1000);
    EXPECT_TRUE(c.memory == Part<double>(d, Layout::columns, product).memory) << seed;
  }
  trine::mpi::detail::message_bytes = int64_t{1} << 30;
}

/// A part of 2^32 + 1 elements, by a stride of 0; and indices beyond 2^40.
TEST(Large, PartsAndIndicesBeyond32Bits) {
  const float half = 0.5;
  trine::ConstHostView many = trine::host_vector(&half, Dtype::f32, (int64_t{1} << 32) + 1);
  many.row_stride = 0;
  if (rank() != 0) many.rows = 1;
  EXPECT_EQ(trine::mpi::exact_sum(many, trine::Map::identity, MPI_COMM_WORLD, {.device = "cpu"})
                .round<double>(),
            0x1p31 + 0.5 * size());
  const std::vector<double> mine = {double(size() - rank()), 7};
  EXPECT_EQ(trine::mpi::argmin(mine, (int64_t{1} << 40) + 2 * rank(), MPI_COMM_WORLD),
            (int64_t{1} << 40) + 2 * (size() - 1));
}

}  // namespace
