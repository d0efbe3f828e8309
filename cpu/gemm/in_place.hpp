// Small products, of operands where they lie.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "gemm/kernels.hpp"
#include "rung.hpp"

namespace trine::cpu::gemm {

using std::int64_t;

// Bytes of B, and products, of a small matrix that isn't packed.
constexpr int64_t kDirectBytes = 1 << 17;
constexpr int64_t kDirectProducts = 1 << 22;

// The distance in bytes by which the operands of a batch's small products are prefetched: the
// fastest of 2 to 32 KiB.
constexpr int64_t kPrefetchBytes = 8192;
// The bytes of B from which on its lines are prefetched again while they are read.
constexpr int64_t kPrefetchedOperand = 4096;

// The bytes of B from which on a single product prefetches A panel by panel, up to kDirectBytes.
// With its first panel it also prefetches the rows of B kStepsAhead steps ahead, none past B's end.
// Smaller products of floats would lose by it in the caches. A batch's products prefetch B's rows
// alone.
template <class T>
constexpr int64_t kPrefetchedAlone = std::is_integral_v<T> ? 1 << 14 : 1 << 15;
template <class T>
constexpr int64_t kStepsAhead = std::is_integral_v<T> ? 16 : 32;

template <class T>
bool is_prefetched(const Problem<T>& p) {
  return p.k * p.n * int64_t{sizeof(T)} >= kPrefetchedAlone<T>;
}

// Whether C has no more rows than a tile.
template <class T>
bool is_thin(const Problem<T>& p) {
  return p.depth() > 0 && p.m <= kernels<T>().tiles(2).height();
}

// Small operands that stay in the first caches are read where they lie: packing them would take as
// long as the product. Rows of B must be neighbours in memory.
template <class T>
bool is_direct(const Problem<T>& p) {
  const int64_t width = kernels<T>().width;
  if (p.depth() == 0 || (p.b.col_stride != 1 && p.n != 1)) return false;
  if (p.n <= width && is_thin(p)) return p.n == 1 || p.b.row_stride <= 4 * width;
  return p.k * p.n * int64_t{sizeof(T)} <= kDirectBytes && p.m * p.n * p.k <= kDirectProducts;
}

// The panels of C's rows. All have one height but the last, which has the lowest that holds the
// rest. A tile of fewer than four rows takes as long as one of four; its beginning and end take as
// long as another row.
struct RowPanels {
  int slot = 0, last_slot = 0;  // of the heights
  int64_t count = 1;

  RowPanels() = default;
  RowPanels(const Heights& of, int64_t m) {
    const int rows = static_cast<int>(m);
    slot = last_slot = of.slot(m);
    if (of.heights[slot] == m) return;
    const auto cost = [&](int i) { return std::max(of.heights[i], 4) + 1; };
    int least = std::numeric_limits<int>::max();
    for (int i = of.height_count; i-- > 0;) {
      const int height = of.heights[i];
      if (height > rows) continue;
      const int whole = (rows - 1) / height, last = of.slot(rows - whole * height);
      const int all = whole * cost(i) + cost(last);
      if (all < least) least = all, slot = i, last_slot = last, count = whole + 1;
      if (height <= 4) break;
    }
  }
};

// Columns of C from `j0` on, as `count` tiles of one width side by side.
template <class T>
struct Columns {
  const TilesInPlace<T>* tiles;
  RowPanels panels;
  int64_t width, j0, count;
};

template <class T>
Columns<T> columns_of(const Kernels<T>& kernel, int64_t m, int64_t vectors, int64_t j0,
                      int64_t count) {
  const TilesInPlace<T>& tiles = kernel.tiles(vectors);
  return {&tiles, RowPanels(tiles, m), vectors * kernel.narrow, j0, count};
}

// Computes tiles from A where it lies in memory.
template <class T>
class Direct {
 public:
  // Tiles of a batch prefetch the lines of B that they read. A single product, and a small B, would
  // be slower by it.
  explicit Direct(const Problem<T>& p, bool is_of_batch = false)
      : p_(p), prefetches_(is_of_batch && p.k * p.n * int64_t{sizeof(T)} >= kPrefetchedOperand) {
    tile_.a_row = p.a.row_stride, tile_.a_step = p.a.col_stride;
    tile_.reads_c = p.reads_c;
    tile_.alpha = p.alpha, tile_.beta = p.beta;
  }

  // Another product of the same shape, as batches have them.
  void move_to(const Problem<T>& p) {
    p_.a.data = p.a.data, p_.b.data = p.b.data, p_.c.data = p.c.data;
  }

  // Some steps of k, and their rows of B. The first panel prefetches these rows `ahead` elements
  // ahead.
  struct Steps {
    int64_t k0, k;
    const T* b;
    int64_t b_step, ahead;
    bool prefetches = false;  // the next panel of A, and the beginning of the first
  };

  // Computes some panels of the columns from j on. It continues the partials of earlier steps of k,
  // and stores partials where steps are left.
  void compute(const Columns<T>& columns, int64_t j, const Steps& s, Matrix<T> partials,
               int64_t first_panel, int64_t end_panel) {
    const TilesInPlace<T>& tiles = *columns.tiles;
    const RowPanels& panels = columns.panels;
    Tile<T>& t = tile_;
    t.k = s.k;
    t.b = s.b, t.b_step = s.b_step, t.end = p_.b.at(p_.k, 0);
    t.cols = static_cast<int>(std::min<int64_t>(columns.width, p_.n - j));
    t.last = s.k0 + s.k == p_.k;
    const Matrix<T>& target = t.last ? p_.c : partials;
    t.to_stride = target.row_stride, t.from_stride = partials.row_stride;
    const int64_t height = tiles.heights[panels.slot];
    if (s.prefetches) {
      prefetch_a(first_panel * height, height);
      for (int64_t x = 0; x < s.ahead; x += s.b_step)
        for (int64_t y = 0; y < t.cols; y += kLine<T>) __builtin_prefetch(s.b + x + y);
    }
    for (int64_t panel = first_panel; panel < end_panel; ++panel) {
      const int slot = panel + 1 < panels.count ? panels.slot : panels.last_slot;
      const int64_t above = panel * height;
      const int64_t i = std::min(above, p_.m - tiles.heights[slot]);
      t.rows = tiles.heights[slot];
      t.skip = static_cast<int>(above - i);
      t.a = p_.a.at(i, s.k0);
      t.from = s.k0 == 0 && !p_.continues ? nullptr : partials.at(i, j);
      t.to = target.at(i, j);
      t.ahead = panel == first_panel ? s.ahead : 0;
      if (s.prefetches && panel + 1 < end_panel) prefetch_a(above + height, height);
      const bool is_whole =
          t.cols == columns.width && (std::is_integral_v<T> || (t.ahead == 0 && !prefetches_));
      run_ = (is_whole ? tiles.whole : tiles.part)[slot];
      run_(t);
    }
  }

  // Computes some panels of one tile's columns, with all steps of k.
  void compute(const Columns<T>& columns, int64_t j, int64_t first_panel, int64_t end_panel,
               bool is_first) {
    Steps steps{0, p_.k, p_.b.data + j, p_.b.row_stride, 0};
    if (is_prefetched(p_)) {
      steps.ahead = std::min(kStepsAhead<T>, p_.k) * p_.b.row_stride;
      steps.prefetches = is_first && !prefetches_ && p_.a.col_stride == 1 &&
                         p_.m * p_.k * int64_t{sizeof(T)} <= kDirectBytes;
    }
    compute(columns, j, steps, p_.c, first_panel, end_panel);
  }

  // Computes the last tile again, for the next product of a batch whose products have one tile.
  void compute_alike(const Problem<T>& p) {
    tile_.end += p.b.data - tile_.b;
    tile_.a = p.a.data, tile_.b = p.b.data, tile_.to = p.c.data;
    if (p_.continues) tile_.from = p.c.data;
    run_(tile_);
  }

 private:
  // Inlined, as a Part's prefetches are.
  [[gnu::always_inline]] void prefetch_a(int64_t i0, int64_t height) const {
    const int64_t end = std::min(i0 + height, p_.m);
    for (int64_t k = 0; k < p_.k; k += kLine<T>)
      for (int64_t i = i0; i < end; ++i) __builtin_prefetch(p_.a.at(i, k));
  }

  Problem<T> p_;
  bool prefetches_;
  Tile<T> tile_{};
  TileFunction<T> run_ = nullptr;
};

// The tiles of a product in place, one column of tiles after the other. Tiles have two vectors.
// Three are taken if they cover all columns, or if a single vector would be left, which waits for
// broadcasts.
template <class T>
class Grid {
 public:
  explicit Grid(const Problem<T>& p) {
    const Kernels<T>& kernel = kernels<T>();
    const int64_t vectors = divide_up(p.n, kernel.narrow), threes = threes_of(kernel, vectors),
                  pairs = (vectors - 3 * threes) / 2, ones = threes > 0 ? 0 : vectors % 2;
    if (pairs > 0) add(columns_of(kernel, p.m, 2, 0, pairs));
    if (threes > 0) add(columns_of(kernel, p.m, 3, pairs * kernel.width, threes));
    if (ones > 0) add(columns_of(kernel, p.m, 1, pairs * kernel.width, ones));
  }

  int64_t tiles() const { return tiles_; }
  void compute(Direct<T>& direct, int64_t first, int64_t end) const {
    bool is_first = true;
    for (int kind = 0; kind < kinds_; ++kind) {
      const Columns<T>& columns = columns_[kind];
      const int64_t panels = columns.panels.count;
      int64_t j = columns.j0;
      for (int64_t i = 0; i < columns.count;
           ++i, j += columns.width, first -= panels, end -= panels)
        if (first < panels && end > 0) {
          direct.compute(columns, j, std::max<int64_t>(first, 0), std::min(end, panels), is_first);
          is_first = false;
        }
    }
  }

 private:
  static int64_t threes_of(const Kernels<T>& kernel, int64_t vectors) {
    if (kernel.most_vectors < 3 || vectors < 3) return 0;
    return vectors % 3 == 0 ? vectors / 3 : vectors % 2;
  }
  void add(const Columns<T>& columns) {
    columns_[kinds_++] = columns;
    tiles_ += columns.count * columns.panels.count;
  }

  Columns<T> columns_[2];
  int kinds_ = 0;
  int64_t tiles_ = 0;
};

// Prefetches later operands of a batch, a part with each tile, because the hardware doesn't follow
// such short streams. (gcc drops these prefetches unless they are inlined.)
template <class T>
struct Part {
  int64_t elements, share;

  Part(int64_t of, int64_t parts) : elements(of), share(round_up(divide_up(of, parts), kLine<T>)) {}
  [[gnu::always_inline]] void prefetch(const T* data, int64_t part) const {
    const int64_t end = std::min(elements, (part + 1) * share);
    for (int64_t x = part * share; x < end; x += kLine<T>) __builtin_prefetch(data + x);
  }
};

// Whether the rows of a 4 x 4 operand lie one behind the other.
template <class T>
bool is_four(const Matrix<T>& x) {
  return x.row_stride == 4 && x.col_stride == 1;
}

// Computes `count` small products of a batch from `p` on; `left` are left in the batch.
template <class T>
void multiply_each(Problem<T> p, const Problem<T>& second, int64_t count, int64_t left) {
  const int64_t a = second.a.data - p.a.data, b = second.b.data - p.b.data,
                c = second.c.data - p.c.data;
  const int64_t far =
      divide_up(kPrefetchBytes, int64_t{sizeof(T)} * (p.m * p.k + p.k * p.n + p.m * p.n));
  const auto fours = kernels<T>().fours;
  if (fours != nullptr && p.m == 4 && p.n == 4 && p.k == 4 && is_four(p.a) && is_four(p.b) &&
      is_four(p.c)) {
    const int64_t prefetched = std::clamp<int64_t>(left - far, 0, count);
    fours(p, a, b, c, prefetched, far);
    p.a.data += prefetched * a, p.b.data += prefetched * b, p.c.data += prefetched * c;
    return fours(p, a, b, c, count - prefetched, 0);
  }
  const bool alone = p.m == 1 && p.n == 1;
  Direct<T> direct(p, true);
  const Grid<T> grid(p);
  const int64_t tiles = grid.tiles();
  const Part<T> of_a(p.m * p.k, tiles), of_b(p.k * p.n, tiles), of_c(p.m * p.n, tiles);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t tile = 0; tile < tiles; ++tile) {
      if (far < left - i) {
        of_a.prefetch(p.a.data + far * a, tile);
        of_b.prefetch(p.b.data + far * b, tile);
        of_c.prefetch(p.c.data + far * c, tile);
      }
      if (alone) {
        kernels<T>().one(p);
      } else if (tiles == 1 && i > 0) {
        direct.compute_alike(p);
      } else {
        direct.move_to(p);
        grid.compute(direct, tile, tile + 1);
      }
    }
    p.a.data += a, p.b.data += b, p.c.data += c;
  }
}

template <class T>
void multiply_directly(const Problem<T>& p, Parallel& parallel) {
  const Grid<T> grid(p);
  const int64_t tiles = grid.tiles(), chunks = std::min<int64_t>(parallel.threads(), tiles);
  const auto body = [&](int64_t chunk, int) {
    Direct<T> direct(p);
    grid.compute(direct, tiles * chunk / chunks, tiles * (chunk + 1) / chunks);
  };
  parallel.parallel_for(chunks, body, Parallel::Order::own);
}

}  // namespace trine::cpu::gemm
