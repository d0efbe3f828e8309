// Panels of A and B, and how threads share their packing and the tiles between them.
#pragma once
#include <algorithm>
#include <cstdint>

#include "gemm/kernels.hpp"
#include "rung.hpp"

namespace trine::cpu::gemm {

using std::int64_t;

// Rows and columns of C between two packings of their operands.
constexpr int64_t kOuterBlock = 4096;
// Bytes of packed A that one chunk works on: half of a 2 MiB L2.
constexpr int64_t kChunkBytes = 1 << 20;
// The panels that one thread packs at once, and the lines of each. Panel by panel it would visit a
// page for every 128 bytes of B. Meanwhile the next lines are prefetched (pack-inl.hpp).
constexpr int64_t kPackedPanels = 8;
// Chunks for each thread, so that no thread is late at the end.
constexpr int kChunksPerThread = 6;

// Extents of the blocks, and where they lie in a workspace, in elements.
struct Blocks {
  int64_t m, n, k;
  int64_t b_offset, partial_offset, total;
};

template <class T>
Blocks blocks_of(const PanelShape& shape, int64_t m, int64_t n, int64_t depth, int64_t k_block) {
  Blocks r;
  r.m = std::min(m, round_up(kOuterBlock, shape.height()));
  r.n = std::min(n, round_up(kOuterBlock, shape.width));
  r.k = round_up(std::min(depth, k_block), kPanelSteps);
  r.b_offset = round_up(round_up(r.m, shape.height()) * r.k, kLine<T>);
  r.total = r.partial_offset = r.b_offset + round_up(round_up(r.n, shape.width) * r.k, kLine<T>);
  return r;
}

// A block of C as panels of A times panels of B.
struct PanelGrid {
  const PanelShape& shape;
  int64_t m, n;
  int64_t lines = kPackedLines;
  int64_t rows = divide_up(m, shape.height()), cols = divide_up(n, shape.width);  // of panels

  // Packs `k` steps, padded with zeros to `depth`: pack(is_a, matrix, i, extent, steps, height, to)
  // takes the rows of `matrix` from i on. A chunk has so many panels of A or B that packing it is
  // worth a hand-over to a thread.
  template <class S, class T, class Pack>
  void pack(Matrix<const S> a, Matrix<const S> b, T* a_panels, T* b_panels, int64_t k,
            int64_t depth, Parallel& parallel, Pack&& pack) const {
    const int64_t group = std::max<int64_t>(
        1,
        std::min<int64_t>(kPackedPanels, (rows + cols) / (kChunksPerThread * parallel.threads())));
    const int64_t a_chunks = divide_up(rows, group);
    const auto body = [&](int64_t chunk, int) {
      const bool is_a = chunk < a_chunks;
      const int64_t first = (is_a ? chunk : chunk - a_chunks) * group;
      pack_panels(is_a, is_a ? a : b, is_a ? a_panels : b_panels, first, group, k, depth, pack);
    };
    parallel.parallel_for(a_chunks + divide_up(cols, group), body, Parallel::Order::own);
  }

  // Packs up to `count` panels of A or B, from `first` on. Where a panel's elements are neighbours,
  // its lines are short. Then a few lines of all panels are packed before the next few, so that a
  // page is visited once.
  template <class S, class T, class Pack>
  void pack_panels(bool is_a, Matrix<const S> matrix, T* panels, int64_t first, int64_t count,
                   int64_t k, int64_t depth, Pack&& pack) const {
    const int64_t whole = is_a ? shape.height() : shape.width, all = is_a ? m : n;
    const Matrix<const S> source = is_a ? matrix : matrix.transposed();
    const int64_t short_lines = source.row_stride == 1 ? lines : k;
    for (int64_t x = 0; x < k; x += short_lines) {
      for (int64_t panel = first; panel < std::min(first + count, is_a ? rows : cols); ++panel) {
        const int64_t i = panel * whole, extent = std::min(whole, all - i);
        const int height = is_a ? shape.heights[shape.slot(extent)] : shape.panel_width(extent);
        T* const to = panels + i * depth;
        if (x + short_lines >= k) std::fill(to + k * height, to + depth * height, T(0));
        pack(is_a, source.from(i, x), i, extent, std::min(short_lines, k - x), height,
             to + x * height);
      }
    }
  }

  // Calls tile(row panel, column panel, part, parts) for each tile; it is one of `parts` with this
  // panel of B. `panel_bytes` has a panel of A.
  template <class Tile>
  void each_tile(int64_t panel_bytes, Parallel& parallel, Tile&& tile) const {
    const int64_t row_chunks = divide_up(rows, std::max<int64_t>(1, kChunkBytes / panel_bytes));
    const int64_t wanted =
        parallel.threads() == 1 ? 1 : int64_t{kChunksPerThread} * parallel.threads();
    // Each thread gets the same number of chunks: with 15 for two threads, one would have 8.
    const int64_t col_chunks =
        std::min(cols, round_up(divide_up(wanted, row_chunks), parallel.threads()));
    const int64_t more_rows = std::min(rows, std::max(row_chunks, wanted / col_chunks));
    const auto body = [&](int64_t chunk, int) {
      const int64_t r = chunk / col_chunks, c = chunk % col_chunks;
      const int64_t i0 = rows * r / more_rows, i1 = rows * (r + 1) / more_rows;
      for (int64_t j = cols * c / col_chunks; j < cols * (c + 1) / col_chunks; ++j)
        for (int64_t i = i0; i < i1; ++i) tile(i, j, i - i0, i1 - i0);
    };
    parallel.parallel_for(more_rows * col_chunks, body, Parallel::Order::own);
  }
};

// The lines of the next panel of B that a tile prefetches, its share of them, so that the first
// tile of that panel doesn't wait.
template <class T>
void prefetch_next_panel(Tile<T>& t, int64_t panel, int64_t part, int64_t parts) {
  const int64_t lines = panel * int64_t{sizeof(T)} / 64, first = lines * part / parts;
  t.soon = t.b + panel + first * (64 / int64_t{sizeof(T)});
  t.lines = lines * (part + 1) / parts - first;
}

}  // namespace trine::cpu::gemm
