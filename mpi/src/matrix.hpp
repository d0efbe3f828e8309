// Distributed matrices, one dimension at a time: which elements a process has, and which two
// processes share.
//
//   global  0 1 2 3 4 5 6 7 8
//   from    0 0 1 1 0 0 1 1 0        dealt out in blocks of 2 over 2 processes
//   to      0 0 0 1 1 1 0 0 0        dealt out in blocks of 3 over 2 processes
//
// Process 0 of the first sends 0 1 | 8 to process 0 of the second: runs of its own elements, {0, 2}
// and {4, 1}; the receiver has them at {0, 2} and {5, 1}.
#pragma once

#include <trine/mpi_matrix.hpp>

#include <initializer_list>
#include <vector>

#include "call.hpp"

namespace trine::mpi::detail {

/// A dimension of a distribution.
struct Dealt {
  int64_t extent, block;
  int first, processes;

  friend bool operator==(const Dealt&, const Dealt&) = default;
  /// How many a process has; process -1 has none.
  int64_t count(int process) const noexcept;
  /// The most that a process has.
  int64_t most() const noexcept { return count(first); }
  int owner(int64_t place) const noexcept { return int((place / block + first) % processes); }
  /// Where a place's owner keeps it.
  int64_t local(int64_t place) const noexcept {
    return place / block / processes * block + place % block;
  }
  /// The end of a place's block.
  int64_t end(int64_t place) const noexcept {
    return std::min(extent, (place / block + 1) * block);
  }
};
Dealt rows_of(const Distribution& distribution) noexcept;
Dealt cols_of(const Distribution& distribution) noexcept;

/// Neighbours in the memory of one process that are also neighbours in a message.
struct Run {
  int64_t local, at, length;
};
/// Equal runs: the first, how many, and how far from each other in the process's memory.
struct Series {
  Run first;
  int64_t count, step;
};
/// In ascending order; `at` counts from 0.
struct Runs {
  std::vector<Run> runs;
  int64_t count = 0;

  void add(int64_t local, int64_t length);
  Runs slice(int64_t begin, int64_t end) const;
  /// The runs one by one, or `joined` where equal ones follow each other at one distance.
  std::vector<Series> series(bool joined) const;
};
/// The elements that `process`, of `mine`, has in common with each process of `other`.
std::vector<Runs> shares(const Dealt& mine, int process, const Dealt& other);

/// Rows i, i + 1, … and columns j, j + 1, … of a view.
template <class Data>
BasicHostView<Data> block(BasicHostView<Data> view, int64_t i, int64_t j, int64_t rows,
                          int64_t cols) {
  using Byte = std::conditional_t<std::is_const_v<Data>, const std::byte, std::byte>;
  view.data = static_cast<Byte*>(view.data) +
              (i * view.row_stride + j * view.col_stride) * int64_t(size_of(view.dtype));
  view.rows = rows, view.cols = cols;
  return view;
}
/// The same in a device's memory; a block without elements is at its beginning, as an empty part
/// has no other place.
inline View block(View view, int64_t i, int64_t j, int64_t rows, int64_t cols) {
  if (rows != 0 && cols != 0)
    view.offset += uint64_t((i * view.row_stride + j * view.col_stride) * size_of(view.dtype));
  view.rows = rows, view.cols = cols;
  return view;
}
template <AnyView V>
bool is_unit_down(const V& view) {
  return view.rows <= 1 || view.row_stride == 1;
}

/// A number that tells lists of numbers apart.
uint64_t digest(std::initializer_list<int64_t> numbers) noexcept;
uint64_t digest(const Distribution& distribution) noexcept;
/// "300 x 200 f64 in blocks of 64 x 32 on a grid of 1 x 4".
std::string words_of(const Distribution& distribution, Dtype dtype);

/// Throws what is wrong with a matrix, `which`, on this rank.
void check_matrix(const char* which, const ConstMatrix& matrix, const Channel& channel);
/// Throws if the parts share memory.
void check_apart(const char* input_is, const ConstHostView& input, const char* output_is,
                 const ConstHostView& output);

}  // namespace trine::mpi::detail
