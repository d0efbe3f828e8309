// Distributed matrices for tests: where each element is, by the definition alone, and the whole of
// all parts.
#pragma once

#include <trine/mpi_matrix.hpp>

#include <ostream>

#include "ranks.hpp"

namespace trine::mpi {
inline void PrintTo(const Distribution& d, std::ostream* out) {
  *out << d.rows << " x " << d.cols << ", blocks " << d.block_rows << " x " << d.block_cols
       << ", grid " << d.grid_rows << " x " << d.grid_cols << ", first " << d.first_row << " "
       << d.first_col << (d.ranks_by_columns ? ", by columns" : "");
}
}  // namespace trine::mpi

namespace ranks {

using trine::mpi::Distribution;

/// How a part lies in memory: by columns or rows, dense or with room between.
enum class Layout { columns, rows, wide_columns, wide_rows };
inline constexpr Layout kLayouts[] = {Layout::columns, Layout::rows, Layout::wide_columns,
                                      Layout::wide_rows};

/// A rank's part of a whole that all ranks have, row-major.
template <class T>
struct Part {
  Part(const Distribution& is_distributed, Layout layout, const std::vector<T>& whole)
      : distribution(is_distributed) {
    const int me = rank();
    const Distribution& d = distribution;
    const auto mine = [&](int64_t place, int64_t block, int first, int processes, int process) {
      return (place / block + first) % processes == process;
    };
    const bool is_in_grid = me < d.grid_rows * d.grid_cols;
    const int row = d.ranks_by_columns ? me % d.grid_rows : me / d.grid_cols;
    const int col = d.ranks_by_columns ? me / d.grid_rows : me % d.grid_cols;
    for (int64_t i = 0; is_in_grid && i < d.rows; ++i)
      if (mine(i, d.block_rows, d.first_row, d.grid_rows, row)) rows.push_back(i);
    for (int64_t j = 0; is_in_grid && j < d.cols; ++j)
      if (mine(j, d.block_cols, d.first_col, d.grid_cols, col)) cols.push_back(j);
    const auto m = int64_t(rows.size()), n = int64_t(cols.size());
    const int64_t room = layout >= Layout::wide_columns ? 3 : 0;
    const bool is_by_rows = layout == Layout::rows || layout == Layout::wide_rows;
    row_stride = is_by_rows ? n + room : 1;
    col_stride = is_by_rows ? 1 : m + room;
    memory.assign(size_t(is_by_rows ? m * row_stride : n * col_stride), T(0x5A));
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t j = 0; j < cols.size(); ++j)
        memory[at(i, j)] = whole[size_t(rows[i] * d.cols + cols[j])];
  }

  size_t at(size_t i, size_t j) const { return i * size_t(row_stride) + j * size_t(col_stride); }
  trine::mpi::Matrix matrix(trine::Dtype dtype) {
    return {distribution,
            {.data = memory.data(),
             .dtype = dtype,
             .rows = int64_t(rows.size()),
             .cols = int64_t(cols.size()),
             .row_stride = row_stride,
             .col_stride = col_stride}};
  }

  Distribution distribution;
  std::vector<int64_t> rows, cols;  ///< which of the whole are here
  int64_t row_stride = 0, col_stride = 0;
  std::vector<T> memory;
};

/// A distribution of a shape that depends on a seed: grids of all shapes that the ranks have room
/// for, blocks from single elements to more than the whole.
inline Distribution distribution(uint64_t seed, int64_t rows, int64_t cols) {
  const auto pick = [&](uint64_t place, int64_t from, int64_t to) {  // [from, to]
    return from + int64_t(random_at(seed, place) % uint64_t(to - from + 1));
  };
  const auto block = [&](uint64_t place, int64_t extent) {
    switch (pick(place, 0, 4)) {
      case 0: return int64_t{1};
      case 1: return extent + 3;
      case 2: return extent / size() + 1;
      default: return pick(place + 1, 1, 40);
    }
  };
  const int shape = int(pick(0, 0, 3));
  int down = shape == 0 ? 1 : shape == 1 ? size() : int(pick(1, 1, size()));
  const int across = shape == 0   ? size()
                     : shape == 3 ? int(pick(2, 1, size() / down))
                                  : size() / down;
  return {.rows = rows,
          .cols = cols,
          .block_rows = block(3, rows),
          .block_cols = block(5, cols),
          .grid_rows = down,
          .grid_cols = across,
          .first_row = int(pick(7, 0, down - 1)),
          .first_col = int(pick(8, 0, across - 1)),
          .ranks_by_columns = pick(9, 0, 1) == 1};
}

}  // namespace ranks
