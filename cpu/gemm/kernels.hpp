// The interface between micro_kernel's blocking (plain C++) and its SIMD inner parts, which exist
// once per dtype and Highway target.
#pragma once

#include <cstdint>
#include <tuple>

#include "gemm/problem.hpp"

namespace trine::cpu::gemm {

// Elements of a line of memory.
template <class T>
inline constexpr std::int64_t kLine = 64 / sizeof(T);

// Panels are padded with zeros to a multiple of so many steps of k.
inline constexpr std::int64_t kPanelSteps = 4;

// One register tile: rows x cols results, from panels packed k-major, a[k][height] and b[k][width],
// or from A and rows of B where they lie.
template <class T>
struct Tile {
  std::int64_t k;
  const T* a;
  const T* b;
  std::int64_t a_row, a_step, b_step;  // not of panels: between rows of A, and steps of k
  std::int64_t ahead;                  // how far ahead B is called for
  const T* end;                        // and where B ends
  const T* soon;                       // of panels: so many lines of the next one are
  std::int64_t lines;                  // called for meanwhile
  const T* next;                       // C's next tile, likewise
  const T* from;                       // the chains to continue; null: start from +0
  std::int64_t from_stride;
  T* to;  // partials, or with `last` the rows of C
  std::int64_t to_stride;
  bool last, reads_c;
  T alpha, beta;
  int rows, cols;
  int skip;  // the first rows, which another tile stores
};

template <class T>
using TileFunction = void (*)(const Tile<T>&);

// Rows that tiles may have, ascending.
struct Heights {
  static constexpr int kMost = 6;
  int heights[kMost];
  int height_count;

  int height() const { return heights[height_count - 1]; }
  // The lowest that holds `rows`.
  int slot(std::int64_t rows) const {
    int i = 0;
    while (heights[i] < rows && i + 1 < height_count) ++i;
    return i;
  }
};

// Tiles of operands where they lie, of one number of vectors.
template <class T>
struct TilesInPlace : Heights {
  TileFunction<T> whole[kMost];  // of all columns
  TileFunction<T> part[kMost];   // of some, or of floats where B is called for ahead
};

// The functions of a target. Panels of A have one of the `heights`, panels of B the full `width`
// or, for a matrix's last columns, `narrow`: one vector.
template <class T>
struct Kernels : Heights {
  // Packs rows x k elements of A from (0, 0) into a panel of `height`, pads with zeros.
  using PackFunction = void (*)(Matrix<const T> from, std::int64_t rows, std::int64_t k, int height,
                                T* to);
  using FoursFunction = void (*)(Problem<T> p, std::int64_t a, std::int64_t b, std::int64_t c,
                                 std::int64_t count, std::int64_t far);
  int width, narrow;
  TileFunction<T> full[kMost], thin[kMost];  // of panels
  int most_vectors;                          // of a tile in place
  TilesInPlace<T> in_place[3];    // of one vector, of two, and, up to `most_vectors`, of three
  PackFunction pack, pack_panel;  // lines of elements; what `full` and `thin` read
  // Columns j0 … of a C of one row, `narrow` of them; B's columns lie in memory (row_stride 1).
  void (*across)(const Problem<T>& p, std::int64_t j0);
  // `columns` of it from j0 on, with memory for their chains; B's rows lie in memory (col_stride
  // 1).
  void (*along)(const Problem<T>& p, std::int64_t j0, std::int64_t columns, T* chains);
  void (*one)(const Problem<T>& p);  // all of a C of one element
  // Rounds chains in f64 to row i of C, `columns` from j0 on.
  void (*round)(const Problem<float>& p, std::int64_t i, std::int64_t j0, std::int64_t columns,
                const double* chains);
  // `count` products of a batch, of 4 x 4 words whose rows are side by side, so many elements
  // apart, and called for `far` products ahead. Null where a target has none.
  FoursFunction fours;

  const TilesInPlace<T>& tiles(std::int64_t vectors) const { return in_place[vectors - 1]; }
  int panel_width(std::int64_t cols) const { return cols <= narrow ? narrow : width; }
};

// The kernels of the best target of this machine.
using AllKernels = std::tuple<Kernels<float>, Kernels<double>, Kernels<std::uint32_t>>;
const AllKernels& all_kernels();

template <class T>
const Kernels<T>& kernels() {
  return std::get<Kernels<T>>(all_kernels());
}

}  // namespace trine::cpu::gemm
