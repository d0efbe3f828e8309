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
// A C of few rows or columns (Flat): the panels of its short side are packed first, and each thread
// packs those of the long side just before it multiplies them, so that they stay in its L2.
//
// Many small matrices: each thread takes whole ones, with a workspace of its own.
//
// Exact products have a way of their own (exact.cpp).
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gemm/exact.hpp"
#include "gemm/in_place.hpp"
#include "gemm/panels.hpp"
#include "gemm/rungs.hpp"

namespace trine::cpu::gemm {
namespace {

using std::int64_t;

// For a C of few rows: the panels and steps of k that a thread takes at a time from rows of B; the
// steps of a packed panel.
constexpr int64_t kThinPanels = 64, kThinSteps = 8, kThinDepth = 512;
// For a C of one row, with B in place: the bytes of that row that one chunk computes.
constexpr int64_t kRowBytes = 16384;
// For a flat C: the most rows or columns of its short side; how many times as many the long side
// has, with so many panels for each thread, so that no thread waits long for others; or the steps
// of k, with two panels for each.
constexpr int64_t kFlatSide = 320, kFlatRatio = 4, kFlatShare = 16, kFlatDeep = 2048;
// The panels and steps of the long side that a thread packs at a time; the panels of the short side
// that a thread packs at a time, and their steps that all threads pack.
constexpr int64_t kFlatPanels = 8, kFlatDepth = 512, kFlatGroup = 2, kFlatSteps = 4096;
// The multiply-adds of a matrix up to which threads take whole matrices of a batch.
constexpr int64_t kSmallMatrix = int64_t{1} << 24;

// How a flat C is cut into chunks of the long side's panels.
struct Flat {
  bool is_tall;             // the long side are C's rows
  int64_t panels, height;   // of the long side, and the rows or columns of each
  int64_t short_side;       // of whole panels
  int64_t depth, steps;     // of k: that a thread packs at a time, and that all pack at once
  int64_t chunks = 0, own;  // of the long side; elements of a thread's panels

  template <class T>
  Flat(const Problem<T>& p, int64_t k_block, int threads) {
    const Kernels<T>& kernel = kernels<T>();
    const int64_t rows = divide_up(p.m, kernel.height()), cols = divide_up(p.n, kernel.width);
    is_tall = rows > cols;
    panels = is_tall ? rows : cols;
    height = is_tall ? kernel.height() : kernel.width;
    short_side = is_tall ? cols * kernel.width : rows * kernel.height();
    depth = round_up(std::clamp<int64_t>(p.depth(), 1, std::min(k_block, kFlatDepth)), kPanelSteps);
    steps = std::min(kFlatSteps / depth * depth, round_up(p.depth(), depth));
    own = round_up(kFlatPanels * height * depth, kLine<T>);
    const int64_t least = is_tall ? p.n : p.m, most = is_tall ? p.m : p.n;
    const bool is_long = most >= kFlatRatio * least && panels >= kFlatShare * threads,
               is_deep = p.depth() >= kFlatDeep && panels >= 2 * threads;
    if (p.depth() > 0 && !is_thin(p) && least <= kFlatSide && (is_long || is_deep))
      chunks = std::min(panels, round_up(divide_up(panels, kFlatPanels), int64_t{threads}));
  }
  explicit operator bool() const { return chunks > 0; }
};

template <class T>
Blocks blocks_of(const Problem<T>& p, int64_t k_block, int threads) {
  const Kernels<T>& kernel = kernels<T>();
  if (const Flat flat(p, k_block, threads); flat) {
    Blocks r{p.m, p.n, p.k, round_up(flat.short_side * flat.steps, kLine<T>), 0, 0};
    r.partial_offset = r.b_offset + threads * flat.own;
    r.total = r.partial_offset + (p.reads_c ? round_up(p.m * p.n, kLine<T>) : 0);
    return r;
  }
  if (is_thin(p)) {
    Blocks r{p.m, p.n, p.k, 0, threads * kThinDepth * kernel.width, 0};
    r.total = r.partial_offset + (p.reads_c ? round_up(p.m * p.n, kLine<T>) : 0);
    return r;
  }
  Blocks r = blocks_of<T>(kernel, p.m, p.n, p.depth(), k_block);
  if (p.reads_c && p.depth() > r.k) r.total += round_up(r.m * r.n, kLine<T>);
  return r;
}

// Packs a panel, for PanelGrid.
constexpr auto kPackPanel = []<class T>(bool, Matrix<const T> from, int64_t, int64_t rows,
                                        int64_t steps, int height, T* to) {
  kernels<T>().pack_panel(from, rows, steps, height, to);
};

// One block of C and of k.
template <class T>
class Step {
 public:
  Step(const Problem<T>& p, T* a, T* b, Matrix<T> partials, int64_t i0, int64_t j0, int64_t m,
       int64_t n)
      : p_(p),
        kernel_(kernels<T>()),
        a_(a),
        b_(b),
        partials_(partials),
        i0_(i0),
        j0_(j0),
        grid_{kernel_, m, n} {}

  void run(int64_t k0, int64_t k, Parallel& parallel) {
    begin(k0, k);
    if (k > 0) {
      grid_.pack(p_.a.from(i0_, k0), p_.b.from(k0, j0_), a_, b_, k, depth_, parallel, kPackPanel);
    }
    const int64_t panel_bytes = kernel_.height() * std::max<int64_t>(k, 1) * int64_t{sizeof(T)};
    grid_.each_tile(panel_bytes, parallel, [&](auto... place) { tile(place...); });
  }

  // Packs A or B alone; the other one is packed already.
  void run_alone(int64_t k0, int64_t k, bool packs_a) {
    begin(k0, k);
    const Matrix<const T> from = packs_a ? p_.a.from(i0_, k0) : p_.b.from(k0, j0_);
    grid_.pack_panels(packs_a, from, packs_a ? a_ : b_, 0, kFlatPanels, k, depth_, kPackPanel);
    for (int64_t j = 0; j < grid_.cols; ++j)
      for (int64_t i = 0; i < grid_.rows; ++i) tile(i, j, i, grid_.rows);
  }

 private:
  void begin(int64_t k0, int64_t k) {
    k0_ = k0;
    k_ = k;
    depth_ = round_up(k, kPanelSteps);
  }

  void tile(int64_t row_panel, int64_t col_panel, int64_t part, int64_t parts) {
    const int64_t i = row_panel * kernel_.height(), j = col_panel * kernel_.width;
    Tile<T> t{};
    t.rows = static_cast<int>(std::min<int64_t>(kernel_.height(), grid_.m - i));
    t.cols = static_cast<int>(std::min<int64_t>(kernel_.width, grid_.n - j));
    t.k = depth_;
    t.a = a_ + i * depth_;
    t.b = t.soon = b_ + j * depth_;
    if (col_panel + 1 < grid_.cols) prefetch_next_panel(t, kernel_.width * depth_, part, parts);
    t.from = t.to = partials_.at(i, j);
    t.from_stride = t.to_stride = partials_.row_stride;
    t.last = k0_ + k_ == p_.depth();
    t.reads_c = p_.reads_c;
    t.alpha = p_.product ? p_.alpha : T(1);  // of a product that is +0
    t.beta = p_.beta;
    T* const c = p_.c.data + (i0_ + i) * p_.c.row_stride + j0_ + j;
    if (!p_.reads_c) t.from = c, t.from_stride = p_.c.row_stride;
    if (t.last || !p_.reads_c) t.to = c, t.to_stride = p_.c.row_stride;
    if (k0_ == 0 && !p_.continues) t.from = nullptr;
    t.next = t.to + (part + 1 < parts ? kernel_.height() * t.to_stride
                                      : kernel_.width - part * kernel_.height() * t.to_stride);
    const int slot = kernel_.slot(t.rows);
    const bool thin = kernel_.panel_width(t.cols) < kernel_.width;
    (thin ? kernel_.thin : kernel_.full)[slot](t);
  }

  const Problem<T>& p_;
  const Kernels<T>& kernel_;
  T *a_, *b_;
  Matrix<T> partials_;
  int64_t i0_, j0_;
  PanelGrid grid_;
  int64_t k0_ = 0, k_ = 0, depth_ = 0;
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

template <class T>
void multiply_flat(const Problem<T>& p, const Flat& flat, const Blocks& blocks, T* workspace,
                   Parallel& parallel) {
  const PanelGrid all{kernels<T>(), p.m, p.n};
  const Matrix<T> partials{workspace + blocks.partial_offset, p.n, 1};
  const int64_t groups = divide_up(flat.is_tall ? all.cols : all.rows, kFlatGroup);
  for (int64_t k0 = 0; k0 < p.k; k0 += flat.steps) {
    const int64_t end = std::min(k0 + flat.steps, p.k);
    const auto packed = [&](int64_t k) { return workspace + (k - k0) * flat.short_side; };
    const auto steps = [&](int64_t k) { return std::min(flat.depth, end - k); };
    parallel.parallel_for(
        divide_up(end - k0, flat.depth) * groups,
        [&](int64_t chunk, int) {
          const int64_t k = k0 + chunk / groups * flat.depth;
          all.pack_panels(!flat.is_tall, flat.is_tall ? p.b.from(k, 0) : p.a.from(0, k), packed(k),
                          chunk % groups * kFlatGroup, kFlatGroup, steps(k),
                          round_up(steps(k), kPanelSteps), kPackPanel);
        },
        Parallel::Order::own);
    const auto body = [&](int64_t chunk, int thread) {
      const int64_t from = flat.panels * chunk / flat.chunks * flat.height,
                    to = flat.panels * (chunk + 1) / flat.chunks * flat.height,
                    i = flat.is_tall ? from : 0, j = flat.is_tall ? 0 : from;
      T* const own = workspace + blocks.b_offset + thread * flat.own;
      for (int64_t k = k0; k < end; k += flat.depth) {
        Step<T> step(p, flat.is_tall ? own : packed(k), flat.is_tall ? packed(k) : own,
                     {partials.at(i, j), partials.row_stride, 1}, i, j,
                     flat.is_tall ? std::min(to, p.m) - i : p.m,
                     flat.is_tall ? p.n : std::min(to, p.n) - j);
        step.run_alone(k, steps(k), flat.is_tall);
      }
    };
    parallel.parallel_for(flat.chunks, body, Parallel::Order::own);
  }
}

template <class T>
void multiply(const Problem<T>& p, int64_t k_block, T* workspace, Parallel& parallel) {
  if (p.m == 1 && p.n == 1 && p.depth() > 0) return kernels<T>().one(p);
  if (is_direct(p)) return multiply_directly(p, parallel);
  const Blocks blocks = blocks_of(p, k_block, parallel.threads());
  if (is_thin(p)) return multiply_thin(p, blocks, workspace, parallel);
  if (const Flat flat(p, k_block, parallel.threads()); flat)
    return multiply_flat(p, flat, blocks, workspace, parallel);
  for (int64_t i0 = 0; i0 < p.m; i0 += blocks.m) {
    for (int64_t j0 = 0; j0 < p.n; j0 += blocks.n) {
      const int64_t m = std::min(blocks.m, p.m - i0), n = std::min(blocks.n, p.n - j0);
      Step<T> step(p, workspace, workspace + blocks.b_offset,
                   {workspace + blocks.partial_offset, n, 1}, i0, j0, m, n);
      int64_t k0 = 0;
      do {  // once, where there are no products to add
        step.run(k0, std::min(blocks.k, p.depth() - k0), parallel);
        k0 += blocks.k;
      } while (k0 < p.depth());
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
  const int copies = spreads_matrices(op, threads) ? threads : 1;
  if (trine_is_exact(&op)) return exact_workspace_bytes(op, parameters[0]) * copies;
  return visit_dtype(op.dtype, [&]<class T>() {
    const Problem<T> p = problem_along_rows<T>(op, 0);
    if (is_direct(p)) return std::size_t{0};
    const Blocks blocks = blocks_of(p, parameters[0], threads / copies);
    return static_cast<std::size_t>(blocks.total) * sizeof(T) * copies;
  });
}

void run_micro_kernel(const trine_gemm& op, const int64_t* parameters, void* workspace,
                      Parallel& parallel) {
  if (op.c.rows == 0 || op.c.cols == 0 || op.c.batch == 0) return;
  const int64_t k_block = parameters[0];
  auto* const memory = static_cast<std::byte*>(workspace);
  const bool exact = trine_is_exact(&op), spreads = spreads_matrices(op, parallel.threads());
  const auto multiply_matrix = [&](int64_t i, std::byte* own, Parallel& by) {
    if (exact) return multiply_exactly(op, i, k_block, own, by);
    visit_dtype(op.dtype, [&]<class T>() {
      multiply(problem_along_rows<T>(op, i), k_block, reinterpret_cast<T*>(own), by);
    });
  };
  if (!spreads) {
    for (int64_t i = 0; i < op.c.batch; ++i) multiply_matrix(i, memory, parallel);
    return;
  }
  const std::size_t own = micro_kernel_workspace_bytes(op, parameters, parallel.threads()) /
                          static_cast<std::size_t>(parallel.threads());
  const int64_t chunks = std::min(op.c.batch, int64_t{8} * kChunksPerThread * parallel.threads());
  parallel.parallel_for(chunks, [&](int64_t chunk, int thread) {
    const int64_t begin = op.c.batch * chunk / chunks, end = op.c.batch * (chunk + 1) / chunks;
    const bool done = !exact && visit_dtype(op.dtype, [&]<class T>() {
      const Problem<T> first = problem_along_rows<T>(op, begin);
      if (!is_direct(first)) return false;
      multiply_each(first, problem_along_rows<T>(op, begin + 1), end - begin, op.c.batch - begin);
      return true;
    });
    Serial alone;
    for (int64_t i = begin; i < end && !done; ++i)
      multiply_matrix(i, memory + own * static_cast<std::size_t>(thread), alone);
  });
}

}  // namespace trine::cpu::gemm
