// Errors of calls with distributed matrices: thrown by all ranks, before anything is written.
#include <gmock/gmock.h>

#include "errors.hpp"
#include "matrices.hpp"

namespace {

using namespace ranks;
using testing::HasSubstr;
using trine::Dtype;
using trine::HostOptions;

/// A call that is right on all ranks but the last, where `spoil` changes it: its error, on all; it writes nothing.
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
  const std::string text = error_of_all([&] {
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
  expect("b is on a grid of 99 x 1 processes",
         [](auto&, auto& b, auto&) { b.distribution.grid_rows = 99; });
  expect("b begins at process -1, 0, which",
         [](auto&, auto& b, auto&) { b.distribution.first_row = -1; });
  expect("the local part of b needs a unit stride along its ",
         [](auto&, auto& b, auto&) { b.local.col_stride = 1; });
  expect("the local part of b has no memory",
         [](auto&, auto& b, auto&) { b.local.data = nullptr; });
  expect("the address of the local part of a isn't",
         [](auto& a, auto&, auto&) { a.local.data = static_cast<char*>(a.local.data) + 1; });
  expect("a is of f64, and b of f32; both have",
         [](auto&, auto& b, auto&) { b.local.dtype = Dtype::f32; });
  expect("the local parts of a and b share memory",
         [](auto& a, auto& b, auto&) { b.local.data = a.local.data; });
  static trine::Event event;
  expect("HostOptions::event goes with calls on one rank",
         [](auto&, auto&, auto& options) { options.event = &event; });
  EXPECT_THAT(
      error_when([](auto&, auto&, auto& options) { options.device = "abacus"; }),
      HasSubstr("not_found: On rank " + std::to_string(size() - 1) + ": No device is called"));
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

}  // namespace
