// Errors of calls with distributed matrices: thrown by all ranks, before anything is written.
#include <gmock/gmock.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <bit>
#include <chrono>
#include <thread>

#include "errors.hpp"
#include "ledger.hpp"
#include "matrices.hpp"
#include "on_devices.hpp"

namespace {

using namespace ranks;
using testing::AllOf, testing::HasSubstr;
using trine::Dtype;
using trine::HostOptions;

/// A call that is right on all ranks but the last, where `spoil` changes it: its error, on all; it
/// writes nothing.
template <class Spoil>
std::string error_when(Spoil&& spoil) {
  const Distribution of_a = {
      .rows = 30, .cols = 20, .block_rows = 8, .block_cols = 20, .grid_rows = size()};
  const Distribution of_b = {
      .rows = 20, .cols = 30, .block_rows = 5, .block_cols = 30, .grid_rows = size()};
  const std::vector<double> whole(600, 1);
  Part<double> a(of_a, Layout::columns, whole), b(of_b, Layout::columns, whole);
  const auto before = b.memory;
  auto from = a.matrix(Dtype::f64), to = b.matrix(Dtype::f64);
  HostOptions options = {.device = "cpu"};
  std::string text = error_of_all([&] {
    if (rank() == size() - 1) spoil(from, to, options);
    trine::mpi::transpose(from, to, MPI_COMM_WORLD, options);
  });
  EXPECT_EQ(b.memory, before);
  return text;
}
std::string at_last(const std::string& sentence) {
  return "invalid_argument: On rank " + std::to_string(size() - 1) + ": trine::mpi: " + sentence;
}

TEST(TransposeErrors, OfOneRankAreThrownByAll) {
  const auto expect = [&](const std::string& sentence, auto&& spoil) {
    EXPECT_THAT(error_when(spoil), HasSubstr(at_last(sentence)));
  };
  expect("a is 31 x 20, and b 20 x 30;", [](auto& a, auto&, auto&) {
    a.distribution.rows = 31;
    a.local.rows = a.distribution.local_rows(rank());
    a.local.col_stride = a.local.rows;
  });
  expect("the local part of a is 99 x ", [](auto& a, auto&, auto&) { a.local.rows = 99; });
  expect("a is 30 x 20 in blocks of 0 x 20; ",
         [](auto& a, auto&, auto&) { a.distribution.block_rows = 0; });
  expect("a is 30 x 20 in blocks of 0 x 20; ", [](auto& a, auto&, auto&) {  // the local part, too
    a.distribution.block_rows = 0;
    a = trine::mpi::matrix(a.distribution, static_cast<double*>(a.local.data), MPI_COMM_WORLD);
  });
  expect("b is on a grid of 99 x 1 processes",
         [](auto&, auto& b, auto&) { b.distribution.grid_rows = 99; });
  expect("b begins at process -1, 0, which",
         [](auto&, auto& b, auto&) { b.distribution.first_row = -1; });
  expect("the local part of b needs a unit stride along its ",
         [](auto&, auto& b, auto&) { b.local.col_stride = 1; });
  expect("the address of the local part of a isn't",
         [](auto& a, auto&, auto&) { a.local.data = static_cast<char*>(a.local.data) + 1; });
  expect("a is of f64, and b of f32; both have",
         [](auto&, auto& b, auto&) { b.local.dtype = Dtype::f32; });
  expect("the local parts of a and b share memory",
         [](auto& a, auto& b, auto&) { b.local.data = a.local.data; });
  static trine::Event event;
  expect("HostOptions::event goes with calls on one rank",
         [](auto&, auto&, auto& options) { options.event = &event; });
}

/// Where both sides lie alike, or are empty, one rank transposes nothing; the options are seen to
/// all the same.
TEST(TransposeErrors, OfOptionsWhereNothingIsTransposed) {
  for (const int64_t extent : {0, 3}) {
    const Distribution all = {
        .rows = extent, .cols = extent, .block_rows = 3, .block_cols = 3};  // on rank 0
    Part<double> a(all, Layout::rows, std::vector<double>(size_t(extent * extent), 1)),
        b(all, Layout::columns, std::vector<double>(size_t(extent * extent), 7));
    const auto run = [&](const HostOptions& options) {
      return error_of_all([&] {
        trine::mpi::transpose(a.matrix(Dtype::f64), b.matrix(Dtype::f64), MPI_COMM_WORLD, options);
      });
    };
    EXPECT_THAT(run({.device = "abacus"}), HasSubstr("No device is called 'abacus'")) << extent;
    EXPECT_THAT(run({.device = "cpu", .rung = "abacus"}), HasSubstr("abacus")) << extent;
    trine::Choice choice;
    EXPECT_EQ(run({.device = "cpu", .choice = &choice}), "nothing") << extent;
    EXPECT_FALSE(choice.why.empty()) << extent;
    Resident on("@cpu");
    const auto from = on.upload(a, Dtype::f64), to = on.upload(b, Dtype::f64);
    EXPECT_THAT(error_of_all([&] {
                  trine::mpi::transpose(on.queue, from, to, MPI_COMM_WORLD, {.rung = "abacus"});
                }),
                HasSubstr("abacus"))
        << extent;
  }
}

TEST(TransposeErrors, DistributionsThatDiffer) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const auto text = error_when([](auto& a, auto&, auto&) {
    a.distribution.block_cols = 50;  // which leaves the parts as they are
  });
  EXPECT_EQ(text,
            "invalid_argument: trine::mpi: the ranks ask for different things. ranks 0 to 2: "
            "transpose: 30 x 20 "
            "f64 in blocks of 8 x 20 on a grid of 4 x 1 to 20 x 30 f64 in blocks of 5 x 30 on a "
            "grid of 4 x 1; "
            "rank 3: transpose: 30 x 20 f64 in blocks of 8 x 50 on a grid of 4 x 1 to 20 x 30 f64 "
            "in blocks of "
            "5 x 30 on a grid of 4 x 1.");
}

/// The error of a transposition of nothing, as all ranks see it.
std::string error_of_extents(const Distribution& a) {
  Distribution b = a;
  std::swap(b.rows, b.cols);
  const auto part = [](const Distribution& d) {
    return trine::mpi::matrix(d, static_cast<double*>(nullptr), MPI_COMM_WORLD);
  };
  return error_of_all([&] { trine::mpi::transpose(part(a), part(b), MPI_COMM_WORLD); });
}

/// Extents that nobody has memory for, or none of, are no work, and no sums that overflow.
TEST(TransposeErrors, OfAbsurdExtents) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  const char* const refused = "exceeds the address space";
  EXPECT_EQ(error_of_extents({.rows = kHuge, .cols = 0}), "nothing");
  EXPECT_EQ(error_of_extents({.rows = 0, .cols = kHuge, .grid_cols = size()}), "nothing");
  EXPECT_THAT(error_of_extents({.rows = kHuge, .cols = 1}), HasSubstr(refused));
  EXPECT_THAT(error_of_extents({.rows = kHuge, .cols = kHuge, .block_rows = kHuge}),
              HasSubstr(refused));
  EXPECT_THAT(error_of_extents({.rows = 1 << 20, .cols = int64_t{1} << 40, .grid_rows = size()}),
              HasSubstr(refused));
  EXPECT_THAT(error_of_extents({.rows = int64_t{1} << 44, .cols = 1, .grid_cols = size()}),
              HasSubstr("On rank 0: trine::mpi: the local part of a has no memory"));
}

Distribution square() {
  return {.rows = 20, .cols = 20, .block_rows = 4, .block_cols = 50, .grid_rows = size()};
}

/// The same of a product: 20 x 30 = 20 x 40 * 40 x 30.
struct Product {
  trine::mpi::Matrix a, b, c;
  double alpha = 1, beta = 1;
  HostOptions options = {.device = "cpu"};
};
template <class Spoil>
std::string product_error_when(Spoil&& spoil, double beta = 1) {
  const auto part = [](int64_t rows, int64_t cols) {
    const Distribution rows_dealt = {
        .rows = rows, .cols = cols, .block_rows = 4, .block_cols = 50, .grid_rows = size()};
    return Part<float>(rows_dealt, Layout::columns, std::vector<float>(size_t(rows * cols), 1));
  };
  Part<float> a = part(20, 40), b = part(40, 30), c = part(20, 30);
  const auto before = c.memory;
  Product product = {a.matrix(Dtype::f32), b.matrix(Dtype::f32), c.matrix(Dtype::f32)};
  product.beta = beta;
  std::string text = error_of_all([&] {
    if (rank() == size() - 1) spoil(product);
    trine::mpi::gemm(product.alpha, product.a, product.b, product.beta, product.c, MPI_COMM_WORLD,
                     product.options);
  });
  EXPECT_EQ(c.memory, before);
  return text;
}

TEST(ProductErrors, OfOneRankAreThrownByAll) {
  const auto expect = [&](const std::string& sentence, auto&& spoil) {
    EXPECT_THAT(product_error_when(spoil), HasSubstr(at_last(sentence)));
  };
  expect("a is 20 x 40, b 40 x 31 and c 20 x 30; they are",
         [](Product& p) { p.b.distribution.cols = p.b.local.cols = 31; });
  expect("a, b and c are on different grids; transpose()", [](Product& p) {
    p.b.distribution.ranks_by_columns = true;  // which leaves a grid of one column as it is
  });
  expect("the columns of b and c are dealt out differently: blocks of 7 from process 0, and of 50",
         [](Product& p) { p.b.distribution.block_cols = 7; });
  expect("the local parts of b and c share memory",
         [](Product& p) { p.c.local.data = p.b.local.data; });
  static trine::Event event;
  expect("HostOptions::event goes", [](Product& p) { p.options.event = &event; });
  if (size() == 1) return;
  expect("the rows of a and c are dealt out differently: blocks of 4 from process 1, and of 4",
         [](Product& p) {
           p.a.distribution.first_row = 1;
           p.a.local.rows = p.a.local.col_stride = p.a.distribution.local_rows(rank());
         });
}

TEST(ProductErrors, InCoresWords) {
  const auto expect = [&](const std::string& words, auto&& spoil) {
    EXPECT_THAT(product_error_when(spoil),
                testing::AllOf(HasSubstr("On rank " + std::to_string(size() - 1) + ": gemm"),
                               HasSubstr(words)));
  };
  expect("alpha", [](Product& p) { p.alpha = 0.1; });  // isn't exact in f32
  expect("beta", [](Product& p) { p.options.continues = true; });
  expect("exact", [](Product& p) {
    p.options.numerics = trine::Numerics::exact, p.options.continues = true, p.beta = 0;
  });
  expect("f64",
         [](Product& p) { p.a.local.dtype = p.b.local.dtype = p.c.local.dtype = Dtype::u32; });
}

/// Here the rung takes the first step, and refuses the second; the other ranks have no trouble.
TEST(ProductErrors, OfALaterStepReachAllRanksBeforeDataMoves) {
  try {
    trine::open("opencl:0");
  } catch (const trine::Error&) {
    GTEST_SKIP() << "no opencl:0, whose rung shared begins chains at 0";
  }
  trine::mpi::detail::chunk_bytes = 1;
  Part<float> a(square(), Layout::columns, std::vector<float>(400, 1)), c = a;
  Resident on("@opencl:0");
  const auto of_a = on.upload(a, Dtype::f32), of_c = on.upload(c, Dtype::f32);
  const bool is_last = rank() == size() - 1;
  const auto expect = [](auto&& multiply) {
    EXPECT_THAT(error_of_all(multiply),
                HasSubstr("On rank " + std::to_string(size() - 1) +
                          ": opencl:0: rung shared refuses this gemm: begins its chains"));
  };
  expect([&] {
    const auto here = a.matrix(Dtype::f32);
    HostOptions options = {.device = "cpu"};
    if (is_last) options = {.device = "opencl:0", .rung = "shared"};
    trine::mpi::gemm(1, here, here, 0, c.matrix(Dtype::f32), MPI_COMM_WORLD, options);
  });
  EXPECT_THAT(c.memory, testing::Each(1.0f));
  expect([&] {
    trine::mpi::gemm(on.queue, 1, of_a, of_a, 0, of_c, MPI_COMM_WORLD,
                     {.rung = is_last ? "shared" : ""});
  });
  trine::mpi::detail::chunk_bytes = int64_t{1} << 26;
  on.download();
  EXPECT_THAT(c.memory, testing::Each(1.0f));
}

/// A transposition that is right on all ranks but the last, where `spoil` changes it.
template <class Spoil>
std::string device_error_when(Spoil&& spoil) {
  Part<double> a(square(), Layout::columns, std::vector<double>(400, 1)), b = a;
  const auto before = b.memory;
  Resident on("@cpu");
  auto from = on.upload(a, Dtype::f64), to = on.upload(b, Dtype::f64);
  std::string text = error_of_all([&] {
    trine::Queue queue = on.queue;
    if (rank() == size() - 1) spoil(queue, from, to);
    trine::mpi::transpose(queue, from, to, MPI_COMM_WORLD);
  });
  on.download();
  EXPECT_EQ(b.memory, before);
  return text;
}

TEST(DeviceErrors, OfOneRankAreThrownByAll) {
  using trine::mpi::DeviceMatrix;
  const auto expect = [&](const std::string& sentence, auto&& spoil) {
    EXPECT_THAT(device_error_when(spoil), HasSubstr(sentence));
  };
  const std::string last = "On rank " + std::to_string(size() - 1) + ": ";
  const std::string ours = last + "trine::mpi: the local part of ";
  expect(ours + "b ends beyond its buffer of ",
         [](auto&, DeviceMatrix&, DeviceMatrix& b) { b.local.offset = 8; });
  expect("the address of the local part of a isn't",
         [](auto&, DeviceMatrix& a, auto&) { a.local.offset = 4; });
  expect(last + "trine::mpi: the local parts of a and b share memory",
         [](auto&, DeviceMatrix& a, DeviceMatrix& b) { b.local.buffer = a.local.buffer; });
  expect(ours + "a is in memory of cpu, and the queue is of cpu:threads=1",
         [](trine::Queue& queue, auto&, auto&) {
           queue = trine::Queue(trine::open("cpu:threads=1"));
         });
}

TEST(DeviceErrors, OfVectors) {
  std::vector<double> mine(100, 1), sums(100, 7);
  Resident on("@cpu");
  const trine::View input = on.upload(mine), output = on.upload(sums);
  const auto expect = [&](const std::string& sentence, trine::View from, trine::View to) {
    const bool is_last = rank() == size() - 1;
    EXPECT_THAT(error_of_all([&] {
                  trine::mpi::allreduce(trine::Function::sum, on.queue, is_last ? from : input,
                                        is_last ? to : output, MPI_COMM_WORLD);
                }),
                HasSubstr(at_last(sentence)));
  };
  trine::View spoiled = input;
  spoiled.row_stride = 2, spoiled.col_stride = 2;
  expect("the input is no dense vector or row-major matrix", spoiled, output);
  spoiled = input;
  spoiled.offset = 8;
  expect("the input ends beyond its buffer of 800 bytes", spoiled, output);
  spoiled = output;
  spoiled.offset = 80;
  expect("the output ends beyond its buffer of 800 bytes", input, spoiled);
  expect("the output overlaps the input", input, [&] {
    trine::View shifted = input;
    shifted.buffer = trine::Buffer::adopt(on.queue.device(),
                                          static_cast<double*>(input.buffer.native()) + 1, 800);
    return shifted;
  }());
  on.download();
  EXPECT_THAT(sums, testing::Each(7.0));
}

TEST(ProductErrors, WhatIsAskedForDiffers) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  EXPECT_THAT(product_error_when([](Product& p) { p.beta = 2; }),
              HasSubstr("grid of 4 x 1, beta 2, c 20 x 30 f32 in blocks"));
  EXPECT_THAT(
      product_error_when([](Product& p) { p.alpha = 0x1.000002p0; }),
      AllOf(HasSubstr("alpha 1, a"), HasSubstr("rank 3: gemm: alpha 1.0000001192092896, a")));
  EXPECT_THAT(product_error_when([](Product& p) { p.a.distribution.block_cols = 60; }),
              HasSubstr("rank 3: gemm: alpha 1, a 20 x 40 f32 in blocks of 4 x 60"));
  EXPECT_THAT(product_error_when([](Product& p) { p.options.continues = true; }, 0),
              HasSubstr("rank 3: gemm, continued: alpha"));
  EXPECT_THAT(product_error_when([](Product& p) { p.options.numerics = trine::Numerics::exact; }),
              HasSubstr("rank 3: gemm, exact: alpha"));
}

TEST(ProductErrors, NumbersThatReadAlike) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  Part<double> a(square(), Layout::columns, std::vector<double>(400, 1)), b = a, c = a;
  const auto nan = std::bit_cast<double>(uint64_t{0x7FF8000000000000} + (rank() == 3 ? 1 : 0));
  EXPECT_THAT(error_of_all([&] {
                trine::mpi::gemm(nan, a.matrix(Dtype::f64), b.matrix(Dtype::f64), 0,
                                 c.matrix(Dtype::f64), MPI_COMM_WORLD);
              }),
              AllOf(HasSubstr("ranks 0 to 3: gemm: alpha nan, a"),
                    HasSubstr("That reads alike, but its numbers have other bits.")));
}

/// The last rank's wait fails while others have yet to send: their messages must find its memory as
/// it was.
template <class Call>
void fail_in_the_midst(Call&& call) {
#ifdef __SANITIZE_ADDRESS__
  __lsan_disable();  // what MPI may still write to stays
#endif
  ledger::fail_next(ledger::Fails::wait);
  if (rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_THAT(error_of_all(call), HasSubstr("backend_error: MPI_Wait"));
#ifdef __SANITIZE_ADDRESS__
  __lsan_enable();
#endif
}

TEST(MpiErrors, InTheMidstOfAnyCallLeaveItsMemory) {
  Part<double> a(square(), Layout::columns, std::vector<double>(400, 1)), c = a;
  const auto from = a.matrix(Dtype::f64), to = c.matrix(Dtype::f64);
  MPI_Comm comm = MPI_COMM_NULL;  // one whose memory begins here; left to MPI_Finalize
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const bool waits = size() > 1;  // one rank sends itself nothing
  if (waits) fail_in_the_midst([&] { trine::mpi::transpose(from, to, comm); });
  fail_in_the_midst([&] { trine::mpi::gemm(1, from, from, 0, to, comm); });
  Resident on("@cpu");
  const auto here = on.upload(a, Dtype::f64), there = on.upload(c, Dtype::f64);
  if (waits) fail_in_the_midst([&] { trine::mpi::transpose(on.queue, here, there, comm); });
  fail_in_the_midst([&] { trine::mpi::gemm(on.queue, 1, here, here, 0, there, comm); });
  on.queue.wait();
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(MpiErrors, OfADatatypeLeaveNone) {
  if (size() == 1) GTEST_SKIP() << "one rank sends itself nothing";
  Part<double> a(square(), Layout::columns, std::vector<double>(400, 1)), c = a;
  const auto multiply = [&] {
    trine::mpi::gemm(1, a.matrix(Dtype::f64), a.matrix(Dtype::f64), 0, c.matrix(Dtype::f64),
                     MPI_COMM_WORLD);
  };
  multiply();  // what stays with the communicator is there
  const int before = ledger::open();
  ledger::fail_next(ledger::Fails::commit);
  EXPECT_THAT(error_of_all(multiply), HasSubstr("backend_error: MPI_Type_commit failed"));
  EXPECT_EQ(ledger::open(), before);
}

TEST(NewParts, ThatHaveNoSizeAreRefusedByTheirRank) {
  const trine::Device cpu = trine::open("cpu");
  const auto error_of_extent = [&](int64_t extent) {
    const Distribution one_has_all = {.rows = extent, .cols = extent};
    return error_of([&] {
      const auto matrix = trine::mpi::matrix(one_has_all, cpu, Dtype::f64, MPI_COMM_WORLD);
      EXPECT_EQ(matrix.local.rows * matrix.local.cols, rank() == 0 ? extent * extent : 0);
    });
  };
  EXPECT_EQ(error_of_extent(3), "nothing");
  for (const int bits : {30, 31, 32, 62})  // 2^63 bytes and more
    EXPECT_THAT(error_of_extent(int64_t{1} << bits),
                HasSubstr(rank() == 0 ? "invalid_argument: trine::mpi: a part of" : "nothing"));
}

}  // namespace
