// micro_kernel: packed panels and a register tile, after Goto and van de Geijn's GotoBLAS and BLIS
// (Van Zee and van de Geijn).
//
// A (m_block x k_block) and B (k_block x n_block) are packed by all threads together; then the
// threads take chunks of C. k ascends block by block in one chain per result: a block's exact
// partials wait in C itself when beta is 0, else in the workspace. There is no split-k.
//
//   for i0 in m by m_block, j0 in n by n_block, k0 in k by k_block:
//     pack A(i0…, k0…), pack B(k0…, j0…)                   in parallel
//     for each chunk of panels of A x panels of B:          in parallel
//       for each panel of B (stays in L1/L2), each panel of A: one register tile
//
// Many small matrices: each thread takes whole ones, with a workspace of its own.
//
// Accurate products: elements of f32 become f64 while they are packed, all partials wait in the
// workspace, and each is rounded into C once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gemm/in_place.hpp"
#include "gemm/rungs.hpp"

namespace trine::cpu::gemm {
namespace {

using std::int64_t;

// Rows and columns of C between two packings of their operands.
constexpr int64_t kOuterBlock = 4096;
// Bytes of packed A that one chunk works on: half of a 2 MiB L2.
constexpr int64_t kChunkBytes = 1 << 20;
// The panels that one thread packs at once, and the lines of each. Panel by panel it would visit a
// page for every 128 bytes of B.
constexpr int64_t kPackedPanels = 8;
constexpr int64_t kPackedLines = 32;
// For a C of few rows: the panels and steps of k that a thread takes at a time from rows of B; the
// steps of a packed panel.
constexpr int64_t kThinPanels = 64, kThinSteps = 8, kThinDepth = 512;
// For a C of one row, with B in place: the bytes of that row that one chunk computes.
constexpr int64_t kRowBytes = 16384;
// The elements that become f64 at once: at most those of a panel of kPackedLines.
constexpr int64_t kWidenedElements = 32 * kPackedLines;
// Chunks for each thread, so that no thread is late at the end.
constexpr int kChunksPerThread = 6;
// The multiply-adds of a matrix up to which threads take whole matrices of a batch.
constexpr int64_t kSmallMatrix = int64_t{1} << 24;

// Extents of the blocks, and where they lie in a workspace, in elements.
struct Blocks {
  int64_t m, n, k;
  int64_t b_offset, partial_offset, total;
};

template <class T, class S>
constexpr bool kWidens = !std::is_same_v<T, S>;

// Whether the product is computed in place, or as one of few rows.
template <class T, class S>
bool goes_directly(const Problem<S>& p) {
  return !kWidens<T, S> && is_direct(p);
}
template <class T, class S>
bool goes_thinly(const Problem<S>& p) {
  return !kWidens<T, S> && is_thin(p);
}

template <class T, class S>
Blocks blocks_of(const Problem<S>& p, int64_t k_block, int threads) {
  const Kernels<T>& kernel = kernels<T>();
  Blocks r;
  if (goes_thinly<T>(p)) {
    r.m = p.m, r.n = p.n, r.k = p.k, r.b_offset = 0;
    r.partial_offset = threads * kThinDepth * kernel.width;
    r.total = r.partial_offset + (p.reads_c ? round_up(p.m * p.n, kLine<T>) : 0);
    return r;
  }
  r.m = std::min(p.m, round_up(kOuterBlock, kernel.height()));
  r.n = std::min(p.n, round_up(kOuterBlock, kernel.width));
  r.k = round_up(std::min(p.depth(), k_block), kPanelSteps);
  r.b_offset = round_up(round_up(r.m, kernel.height()) * r.k, kLine<T>);
  r.partial_offset = r.b_offset + round_up(round_up(r.n, kernel.width) * r.k, kLine<T>);
  const bool partials = kWidens<T, S> || (p.reads_c && p.depth() > r.k);
  r.total = r.partial_offset + (partials ? round_up(r.m * r.n, kLine<T>) : 0);
  return r;
}

// One block of C and of k, of elements S, whose chains are T.
template <class T, class S>
class Step {
 public:
  Step(const Problem<S>& p, const Blocks& blocks, T* workspace, int64_t i0, int64_t j0)
      : p_(p),
        kernel_(kernels<T>()),
        a_(workspace),
        b_(workspace + blocks.b_offset),
        partials_(workspace + blocks.partial_offset),
        i0_(i0),
        j0_(j0),
        m_(std::min(blocks.m, p.m - i0)),
        n_(std::min(blocks.n, p.n - j0)),
        rows_(divide_up(m_, kernel_.height())),
        cols_(divide_up(n_, kernel_.width)) {}

  void run(int64_t k0, int64_t k, Parallel& parallel) {
    k0_ = k0;
    k_ = k;
    depth_ = round_up(k, kPanelSteps);
    if (k > 0) pack(parallel);
    compute(parallel);
  }

  // Rounds the chains to C, once they have gone over all of k.
  void round(Parallel& parallel) {
    parallel.parallel_for(
        m_, [&](int64_t i, int) { kernel_.round(p_, i0_ + i, j0_, n_, partials_ + i * n_); });
  }

 private:
  // A chunk has so many panels of A or B that packing it is worth a hand-over to a thread.
  void pack(Parallel& parallel) {
    const int64_t group = std::max<int64_t>(
        1, std::min<int64_t>(kPackedPanels,
                             (rows_ + cols_) / (kChunksPerThread * parallel.threads())));
    const Source a{{p_.a.at(i0_, k0_), p_.a.row_stride, p_.a.col_stride}, a_, m_, kernel_.height()};
    const Source b{{p_.b.at(k0_, j0_), p_.b.col_stride, p_.b.row_stride}, b_, n_, kernel_.width};
    const int64_t a_chunks = divide_up(rows_, group);
    const auto body = [&](int64_t chunk, int) {
      const bool is_a = chunk < a_chunks;
      const int64_t first = (is_a ? chunk : chunk - a_chunks) * group;
      pack_panels(is_a ? a : b, first, std::min(first + group, is_a ? rows_ : cols_), is_a);
    };
    parallel.parallel_for(a_chunks + divide_up(cols_, group), body, Parallel::Order::own);
  }

  // A matrix to pack into panels of `height`: A by its rows, B by its columns.
  struct Source {
    Matrix<const S> matrix;
    T* to;
    int64_t extent;
    int height;
  };

  void pack_lines(Matrix<const S> from, int64_t rows, int64_t k, int height, T* to) {
    if constexpr (kWidens<T, S>) {
      S lines[kWidenedElements];
      for (int64_t x = 0; x < k; x += kPackedLines, to += kPackedLines * height) {
        const int64_t steps = std::min(kPackedLines, k - x);
        kernels<S>().pack({from.at(0, x), from.row_stride, from.col_stride}, rows, steps, height,
                          lines);
        std::copy_n(lines, steps * height, to);
      }
    } else {
      kernel_.pack_panel(from, rows, k, height, to);
    }
  }

  // Where a panel's elements are neighbours, its lines are short. Then a few lines of all panels
  // are packed before the next few, so that a page is visited once.
  void pack_panels(const Source& source, int64_t first, int64_t end, bool is_a) {
    const int64_t depth = source.matrix.row_stride == 1 ? kPackedLines : k_;
    for (int64_t x = 0; x < k_; x += depth) {
      for (int64_t panel = first; panel < end; ++panel) {
        const int64_t i = panel * source.height;
        const int64_t extent = std::min<int64_t>(source.height, source.extent - i);
        const int height =
            is_a ? kernel_.heights[kernel_.slot(extent)] : kernel_.panel_width(extent);
        const Matrix<const S> from{source.matrix.at(i, x), source.matrix.row_stride,
                                   source.matrix.col_stride};
        T* const to = source.to + i * depth_;
        if (x + depth >= k_) std::fill(to + k_ * height, to + depth_ * height, T(0));
        pack_lines(from, extent, std::min(depth, k_ - x), height, to + x * height);
      }
    }
  }

  void compute(Parallel& parallel) {
    const int64_t panel_bytes = kernel_.height() * std::max<int64_t>(k_, 1) * int64_t{sizeof(T)};
    const int64_t row_chunks = divide_up(rows_, std::max<int64_t>(1, kChunkBytes / panel_bytes));
    const int64_t wanted =
        parallel.threads() == 1 ? 1 : int64_t{kChunksPerThread} * parallel.threads();
    // Each thread gets the same number of chunks: with 15 for two threads, one would have 8.
    const int64_t col_chunks =
        std::min(cols_, round_up(divide_up(wanted, row_chunks), parallel.threads()));
    const int64_t more_rows = std::min(rows_, std::max(row_chunks, wanted / col_chunks));
    const auto body = [&](int64_t chunk, int) {
      const int64_t r = chunk / col_chunks, c = chunk % col_chunks;
      const int64_t i0 = rows_ * r / more_rows, i1 = rows_ * (r + 1) / more_rows;
      for (int64_t j = cols_ * c / col_chunks; j < cols_ * (c + 1) / col_chunks; ++j)
        for (int64_t i = i0; i < i1; ++i) tile(i, j, i - i0, i1 - i0);
    };
    parallel.parallel_for(more_rows * col_chunks, body, Parallel::Order::own);
  }

  // Each tile prefetches its part of the next panel of B, so that the first tile of that panel
  // doesn't wait.
  void tile(int64_t row_panel, int64_t col_panel, int64_t part, int64_t parts) {
    const int64_t i = row_panel * kernel_.height(), j = col_panel * kernel_.width;
    Tile<T> t{};
    t.rows = static_cast<int>(std::min<int64_t>(kernel_.height(), m_ - i));
    t.cols = static_cast<int>(std::min<int64_t>(kernel_.width, n_ - j));
    t.k = depth_;
    t.a = a_ + i * depth_;
    t.b = t.soon = b_ + j * depth_;
    if (col_panel + 1 < cols_) {
      const int64_t panel = kernel_.width * depth_, lines = panel * int64_t{sizeof(T)} / 64;
      const int64_t first = lines * part / parts;
      t.soon = t.b + panel + first * (64 / int64_t{sizeof(T)});
      t.lines = lines * (part + 1) / parts - first;
    }
    T* const partial = partials_ + i * n_ + j;
    t.from = t.to = partial;
    t.from_stride = t.to_stride = n_;
    if constexpr (!kWidens<T, S>) {
      t.last = k0_ + k_ == p_.depth();
      t.reads_c = p_.reads_c;
      t.alpha = p_.product ? p_.alpha : T(1);  // of a product that is +0
      t.beta = p_.beta;
      T* const c = p_.c.data + (i0_ + i) * p_.c.row_stride + j0_ + j;
      if (!p_.reads_c) t.from = c, t.from_stride = p_.c.row_stride;
      if (t.last || !p_.reads_c) t.to = c, t.to_stride = p_.c.row_stride;
    }
    if (k0_ == 0 && !p_.continues) t.from = nullptr;
    t.next = t.to + (part + 1 < parts ? kernel_.height() * t.to_stride
                                      : kernel_.width - part * kernel_.height() * t.to_stride);
    const int slot = kernel_.slot(t.rows);
    const bool thin = kernel_.panel_width(t.cols) < kernel_.width;
    (thin ? kernel_.thin : kernel_.full)[slot](t);
  }

  const Problem<S>& p_;
  const Kernels<T>& kernel_;
  T *a_, *b_, *partials_;
  int64_t i0_, j0_, m_, n_, rows_, cols_, k0_ = 0, k_ = 0, depth_ = 0;
};

// A C of few rows: B is read once, so no thread waits for others to pack it. If B's rows have unit
// stride, each thread takes long parts of a few of them and prefetches the next few. Else it packs
// one panel, in long runs along k, and multiplies that; for a C of one row in registers.
template <class T>
void multiply_thin(const Problem<T>& p, const Blocks& blocks, T* workspace, Parallel& parallel) {
  const Kernels<T>& kernel = kernels<T>();
  if (p.m == 1 && p.b.row_stride == 1) {
    return parallel.parallel_for(divide_up(p.n, kernel.narrow), [&](int64_t chunk, int) {
      kernel.across(p, chunk * kernel.narrow);
    });
  }
  const int64_t width = kernel.width;
  const bool in_place = p.b.col_stride == 1;
  const int64_t group = in_place ? width * kThinPanels : width;
  const int64_t steps = in_place ? kThinSteps : kThinDepth;
  const Matrix<T> partials = p.reads_c ? Matrix<T>{workspace + blocks.partial_offset, p.n, 1} : p.c;
  if (p.m == 1 && in_place) {
    const int64_t lines = divide_up(p.n, kLine<T>);  // no two threads write to one
    const int64_t chunks = std::min(
        lines, round_up(divide_up(p.n, kRowBytes / int64_t{sizeof(T)}), parallel.threads()));
    return parallel.parallel_for(chunks, [&](int64_t chunk, int) {
      const int64_t j0 = lines * chunk / chunks * kLine<T>,
                    j1 = std::min(p.n, lines * (chunk + 1) / chunks * kLine<T>);
      kernel.along(p, j0, j1 - j0, partials.at(0, j0));
    });
  }
  const Columns<T> columns = columns_of(kernel, p.m, p.n <= kernel.narrow ? 1 : 2, 0, 1);
  parallel.parallel_for(divide_up(p.n, group), [&](int64_t chunk, int thread) {
    Direct<T> direct(p);
    T* const packed = workspace + thread * width * kThinDepth;
    for (int64_t k0 = 0; k0 < p.k; k0 += steps) {
      const int64_t k = std::min(steps, p.k - k0);
      for (int64_t j = chunk * group; j < std::min((chunk + 1) * group, p.n); j += width) {
        const T* b = p.b.at(k0, j);
        int64_t b_step = p.b.row_stride, ahead = steps * b_step;
        if (!in_place) {
          kernel.pack({b, p.b.col_stride, p.b.row_stride}, std::min(width, p.n - j), k,
                      kernel.width, packed);
          b = packed, b_step = width, ahead = 0;
        }
        direct.compute(columns, j, {k0, k, b, b_step, ahead}, partials, 0, columns.panels.count);
      }
    }
  });
}

template <class T, class S>
void multiply(const Problem<S>& p, int64_t k_block, T* workspace, Parallel& parallel) {
  if constexpr (!kWidens<T, S>) {
    if (p.m == 1 && p.n == 1 && p.depth() > 0) return kernels<T>().one(p);
    if (is_direct(p)) return multiply_directly(p, parallel);
  }
  const Blocks blocks = blocks_of<T>(p, k_block, parallel.threads());
  if constexpr (!kWidens<T, S>)
    if (is_thin(p)) return multiply_thin(p, blocks, workspace, parallel);
  for (int64_t i0 = 0; i0 < p.m; i0 += blocks.m) {
    for (int64_t j0 = 0; j0 < p.n; j0 += blocks.n) {
      Step<T, S> step(p, blocks, workspace, i0, j0);
      int64_t k0 = 0;
      do {  // once, where there are no products to add
        step.run(k0, std::min(blocks.k, p.depth() - k0), parallel);
        k0 += blocks.k;
      } while (k0 < p.depth());
      if constexpr (kWidens<T, S>) step.round(parallel);
    }
  }
}

bool spreads_matrices(const trine_gemm& op, int threads) {
  return op.c.batch > 1 && op.c.rows * op.c.cols <= kSmallMatrix &&
         op.c.rows * op.c.cols * std::max<int64_t>(op.a.cols, 1) <= kSmallMatrix &&
         (op.c.batch >= threads || op.c.rows * op.c.cols * op.a.cols < kSmallMatrix / 64);
}

}  // namespace

bool is_one_tile(const trine_gemm& op) {
  return op.c.batch == 1 && visit_dtype(op.dtype, [&]<class T>() {
           const Problem<T> p = problem_along_rows<T>(op, 0);
           if (p.m == 1) return p.n == 1;  // else threads share its lines
           return is_thin(p) && p.n <= kernels<T>().width;
         });
}

std::size_t micro_kernel_workspace_bytes(const trine_gemm& op, const int64_t* parameters,
                                         int threads) {
  return visit_types(op, [&]<class T, class S>() {
    const Problem<S> p = problem_along_rows<S>(op, 0);
    if (goes_directly<T>(p)) return std::size_t{0};
    const int copies = spreads_matrices(op, threads) ? threads : 1;
    const Blocks blocks = blocks_of<T>(p, parameters[0], threads / copies);
    return static_cast<std::size_t>(blocks.total) * sizeof(T) * copies;
  });
}

void run_micro_kernel(const trine_gemm& op, const int64_t* parameters, void* workspace,
                      Parallel& parallel) {
  if (op.c.rows == 0 || op.c.cols == 0 || op.c.batch == 0) return;
  visit_types(op, [&]<class T, class S>() {
    T* const memory = static_cast<T*>(workspace);
    if (!spreads_matrices(op, parallel.threads())) {
      for (int64_t i = 0; i < op.c.batch; ++i)
        multiply(problem_along_rows<S>(op, i), parameters[0], memory, parallel);
      return;
    }
    const Problem<S> first = problem_along_rows<S>(op, 0);
    const bool direct = goes_directly<T>(first);
    const int64_t own = direct ? 0 : blocks_of<T>(first, parameters[0], 1).total;
    const int64_t chunks = std::min(op.c.batch, int64_t{8} * kChunksPerThread * parallel.threads());
    parallel.parallel_for(chunks, [&](int64_t chunk, int thread) {
      const int64_t begin = op.c.batch * chunk / chunks, end = op.c.batch * (chunk + 1) / chunks;
      if constexpr (!kWidens<T, S>) {
        if (direct)
          return multiply_each(problem_along_rows<T>(op, begin),
                               problem_along_rows<T>(op, begin + 1), end - begin,
                               op.c.batch - begin);
      }
      Serial alone;
      for (int64_t i = begin; i < end; ++i)
        multiply(problem_along_rows<S>(op, i), parameters[0], memory + thread * own, alone);
    });
  });
}

}  // namespace trine::cpu::gemm
