// The interface between micro_kernel's blocking (plain C++) and its SIMD inner parts, which exist
// once per dtype and Highway target.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>

#include "gemm/problem.hpp"

namespace trine::cpu::gemm {

// Elements of a line of memory.
template <class T>
inline constexpr std::int64_t kLine = 64 / sizeof(T);

// Panels are padded with zeros to a multiple of this number of steps of k.
inline constexpr std::int64_t kPanelSteps = 4;

// The lines of a panel that are packed before those of the next, where its lines are short.
inline constexpr std::int64_t kPackedLines = 8;

// One register tile: rows x cols results, from panels a[k][height] and b[k][width], or from A and
// rows of B in place.
template <class T>
struct Tile {
  std::int64_t k;
  const T* a;
  const T* b;
  std::int64_t a_row, a_step, b_step;  // in place: from row to row of A, and from step to step of k
  std::int64_t ahead;                  // in place: how far ahead B is prefetched
  const T* end;                        // in place: the end of B
  const T* soon;                       // of panels: from here on `lines` lines of the
  std::int64_t lines;                  // next panel are prefetched
  const T* next;                       // the next tile of C, which is prefetched
  const T* from;                       // the chains to continue; null: start from +0
  std::int64_t from_stride;
  const T* plus;  // of panels: null, or what is added to the chains at their end, as `from` strides
  T* to;          // partials, or with `last` the rows of C
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
  // The slot of the lowest height that holds `rows`.
  int slot(std::int64_t rows) const {
    int i = 0;
    while (heights[i] < rows && i + 1 < height_count) ++i;
    return i;
  }
};

// Panels of A have one of the `heights`. Panels of B have the full `width`, or for a matrix's last
// columns `narrow`, one vector.
struct PanelShape : Heights {
  int width, narrow;

  int panel_width(std::int64_t cols) const { return cols <= narrow ? narrow : width; }
};

// The functions for tiles in place of one number of vectors, by height.
template <class T>
struct TilesInPlace : Heights {
  TileFunction<T> whole[kMost];  // for tiles with all columns
  TileFunction<T> part[kMost];   // for others, and for floats whose B is prefetched
};

// A register tile of an exact product of f64, from panels: each sum is `sums` + `errors`. `a_size`
// and `b_size` are the largest magnitudes of its rows and columns, at most `steps` long.
struct PairTile {
  std::int64_t k;
  const double *a, *b, *a_size, *b_size;
  double steps;  // a power of two
  double *sums, *errors;
  std::int64_t stride;
  bool is_first;  // of its sums' blocks of k
  int rows, cols;
};

// The sums of a block of C, and of its rows of A and columns of B the size and the lowest bit
// (exact-inl.hpp). `exact` and `error` bound the sums' errors for operands of size 1.
struct ExactBlock {
  const double *sums, *errors;
  std::int64_t stride;
  const double *a_size, *a_low, *b_size, *b_low;
  double k, exact, error;
};

// The functions of a target for exact products of S.
template <class S>
struct ExactKernels : PanelShape {
  using Compute = std::conditional_t<std::is_same_v<S, float>, Tile<double>, PairTile>;
  static constexpr std::int64_t kColumns = 64;  // of a chunk that is finished at once

  void (*full[kMost])(const Compute&);
  void (*thin[kMost])(const Compute&);
  // Packs as Kernels' does, and takes the elements into the rows' sizes and lowest bits.
  void (*pack)(Matrix<const S> from, std::int64_t rows, std::int64_t k, int height, double* to,
               double* size, double* low);
  // For f32: the terms of an element as sums of three doubles in each of `narrow` lanes; false if
  // they need more.
  bool (*add_terms)(const Problem<float>& p, std::int64_t i, std::int64_t j, double* sums);
  // Rounds `rows` x `columns` sums from (i, j) of the block on, whose elements in C begin at `c`.
  // Elements that aren't certain are left as they are; `open` gets a bit for each of them in a
  // word for each row.
  void (*finish)(const ExactBlock& block, const Problem<S>& p, std::int64_t i, std::int64_t j,
                 std::int64_t rows, std::int64_t columns, Matrix<S> c, std::uint64_t* open);
};

// The functions of a target.
template <class T>
struct Kernels : PanelShape {
  // Packs rows x k elements of A from (0, 0) on into a panel of `height` and pads it with zeros.
  using PackFunction = void (*)(Matrix<const T> from, std::int64_t rows, std::int64_t k, int height,
                                T* to);
  using FoursFunction = void (*)(Problem<T> p, std::int64_t a, std::int64_t b, std::int64_t c,
                                 std::int64_t count, std::int64_t far);
  TileFunction<T> full[kMost], thin[kMost];  // of panels
  int most_vectors;                          // of a tile in place
  TilesInPlace<T> in_place[3];    // of one vector, of two, and, up to `most_vectors`, of three
  PackFunction pack, pack_panel;  // lines of elements; what `full` and `thin` read
  // Computes `narrow` columns from j0 on of a C of one row, with a B whose row_stride is 1.
  void (*across)(const Problem<T>& p, std::int64_t j0);
  // Computes `columns` columns from j0 on of such a C, with memory for their chains and a B whose
  // col_stride is 1.
  void (*along)(const Problem<T>& p, std::int64_t j0, std::int64_t columns, T* chains);
  void (*one)(const Problem<T>& p);  // all of a C of one element
  // Computes `count` products of a batch of 4 x 4 words without gaps. a, b and c are the distances
  // of neighbouring operands in elements; operands are prefetched `far` products ahead. Null where
  // a target has none.
  FoursFunction fours;

  const TilesInPlace<T>& tiles(std::int64_t vectors) const { return in_place[vectors - 1]; }
};

// The kernels of the best target of this machine.
using AllKernels = std::tuple<Kernels<float>, Kernels<double>, Kernels<std::uint32_t>,
                              ExactKernels<float>, ExactKernels<double>>;
const AllKernels& all_kernels();

template <class T>
const Kernels<T>& kernels() {
  return std::get<Kernels<T>>(all_kernels());
}
template <class S>
const ExactKernels<S>& exact_kernels() {
  return std::get<ExactKernels<S>>(all_kernels());
}

}  // namespace trine::cpu::gemm
