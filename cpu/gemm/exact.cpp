// Exact products: a sum for each element that is nearly right, a bound of its error, and where the
// bound leaves a doubt about the rounding, all terms again in a superaccumulator.
//
// f32: chains in f64, in which products are exact. f64: chains of pairs (exact-inl.hpp). The bound
// comes from the sizes of A's rows and B's columns, which are taken while they are packed. All sums
// wait in the workspace until the last block of k.
#include "gemm/exact.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "gemm/exact_element.hpp"
#include "gemm/panels.hpp"

namespace trine::cpu::gemm {
namespace {

// The lines of a panel that are packed and measured at once.
constexpr int64_t kLines = 32;
// The steps of a chain in f64. Short chains are added up: their errors grow with their length.
constexpr int64_t kApart = 256;

template <class S>
constexpr bool kPairs = std::is_same_v<S, double>;

// Behind the panels are the sums, those of pairs with their errors, and the sizes and lowest bits.
template <class S>
Blocks exact_blocks(const Problem<S>& p, int64_t k_block) {
  const ExactKernels<S>& kernel = exact_kernels<S>();
  Blocks r = blocks_of<double>(kernel, p.m, p.n, p.depth(), k_block);
  r.total += round_up(r.m * r.n, kLine<double>) * (kPairs<S> ? 2 : 1);
  r.total += 2 * (round_up(r.m, kernel.height()) + round_up(r.n, kernel.width));
  r.total = round_up(r.total, kLine<double>);
  return r;
}

double open_element(const Problem<double>& p, int64_t i, int64_t j) {
  return exact_element(p, i, j);
}

template <class S>
class ExactStep {
 public:
  ExactStep(const Problem<S>& p, const Blocks& blocks, double* workspace, int64_t i0, int64_t j0)
      : p_(p),
        k_block_(std::max(blocks.k, kPanelSteps)),
        a_(workspace),
        b_(workspace + blocks.b_offset),
        sums_(workspace + blocks.partial_offset),
        errors_(sums_ + round_up(blocks.m * blocks.n, kLine<double>)),
        i0_(i0),
        j0_(j0),
        grid_{kernel_, std::min(blocks.m, p.m - i0), std::min(blocks.n, p.n - j0), kLines} {
    a_size_ = kPairs<S> ? errors_ + (errors_ - sums_) : errors_;
    a_low_ = a_size_ + round_up(blocks.m, kernel_.height());
    b_size_ = a_low_ + (a_low_ - a_size_);
    b_low_ = b_size_ + round_up(blocks.n, kernel_.width);
  }

  void run(Parallel& parallel) {
    std::fill(a_size_, a_low_, 0.0);
    std::fill(b_size_, b_low_, 0.0);
    std::fill(a_low_, b_size_, std::numeric_limits<double>::infinity());
    std::fill(b_low_, b_low_ + (b_low_ - b_size_), std::numeric_limits<double>::infinity());
    if (p_.depth() == 0) std::fill(sums_, a_size_, 0.0);
    for (k0_ = 0; k0_ < p_.depth(); k0_ += k_block_) {
      const int64_t k = std::min(k_block_, p_.depth() - k0_);
      depth_ = round_up(k, kPanelSteps);
      const auto pack = [&](bool is_a, auto from, int64_t i, int64_t rows, int64_t steps,
                            int height, double* to) {
        kernel_.pack(from, rows, steps, height, to, (is_a ? a_size_ : b_size_) + i,
                     (is_a ? a_low_ : b_low_) + i);
      };
      grid_.pack(p_.a.from(i0_, k0_), p_.b.from(k0_, j0_), a_, b_, k, depth_, parallel, pack);
      grid_.each_tile(kernel_.height() * depth_ * int64_t{sizeof(double)}, parallel,
                      [&](auto... place) { tile(place...); });
    }
    finish(parallel);
  }

 private:
  void tile(int64_t row_panel, int64_t col_panel, int64_t part, int64_t parts) {
    const int64_t i = row_panel * kernel_.height(), j = col_panel * kernel_.width;
    typename ExactKernels<S>::Compute t{};
    t.rows = static_cast<int>(std::min<int64_t>(kernel_.height(), grid_.m - i));
    t.cols = static_cast<int>(std::min<int64_t>(kernel_.width, grid_.n - j));
    t.a = a_ + i * depth_;
    t.b = b_ + j * depth_;
    double* const sums = sums_ + i * grid_.n + j;
    const int slot = kernel_.slot(t.rows), width = kernel_.panel_width(t.cols);
    const auto compute = (width < kernel_.width ? kernel_.thin : kernel_.full)[slot];
    if constexpr (kPairs<S>) {
      t.k = depth_;
      t.a_size = a_size_ + i, t.b_size = b_size_ + j;
      t.steps = steps();
      t.sums = sums, t.errors = errors_ + i * grid_.n + j;
      t.stride = grid_.n;
      t.is_first = k0_ == 0;
      compute(t);
    } else {
      t.soon = t.b;
      if (col_panel + 1 < grid_.cols) prefetch_next_panel(t, kernel_.width * depth_, part, parts);
      t.next = sums + (part + 1 < parts ? kernel_.height() * grid_.n
                                        : kernel_.width - part * kernel_.height() * grid_.n);
      add_chains(t, compute, sums, kernel_.heights[slot], width);
    }
  }

  // A tile as chains of kApart steps, added up. Between them the sums lie side by side, because
  // those of rows whose distance is a power of two would evict each other from the first cache.
  template <class Compute>
  void add_chains(Tile<double>& t, Compute compute, double* sums, int height, int width) {
    constexpr int kMostRows = 14, kMostColumns = 16;
    alignas(64) double between[kMostRows * kMostColumns];
    t.plus = k0_ == 0 ? nullptr : sums;
    t.from_stride = grid_.n;
    for (int64_t x = 0; x < depth_; x += kApart) {
      const bool is_last = x + kApart >= depth_;
      t.k = std::min(kApart, depth_ - x);
      t.to = is_last ? sums : between;
      t.to_stride = is_last ? grid_.n : width;
      compute(t);
      t.plus = between;
      t.from_stride = width;
      t.a += kApart * height;
      t.b += kApart * width;
      t.lines = 0;
    }
  }

  // A power of two that is at least twice the steps of a block.
  double steps() const {
    return 2 * static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(k_block_)));
  }

  // Bounds for operands of size 1, with u = 2^-53.
  //
  // f32: a chain of s steps and the addition of n of them round s + n times, each by u of at most
  // |a| |b|. Three more of that are the roundings of the check itself.
  //
  // f64: a step's error is at most u 2^M, 2^M = 2 steps() (exact-inl.hpp); the errors of k steps
  // and of n blocks, whose sums are at most n 2^M, add up to at most (k + n n) u 2^M, which is
  // itself rounded 2 (k + n) times. Twice of all that.
  ExactBlock block() const {
    const auto k = static_cast<double>(p_.depth());
    const double u = 0x1p-53, n = std::ceil(k / static_cast<double>(k_block_));
    ExactBlock b{sums_, errors_, grid_.n, a_size_, a_low_, b_size_, b_low_, k, 0, 0};
    if constexpr (kPairs<S>) {
      const double m = 2 * steps();
      b.exact = (k + n * n) * u * m;
      b.error = 4 * (k + n) * u * b.exact;
    } else {
      const int64_t apart = std::min(kApart, k_block_);
      const double sums = n * static_cast<double>(divide_up(k_block_, apart));
      b.exact = 1;
      b.error = (static_cast<double>(apart) + sums + 4) * u * (1 + 0x1p-20);
    }
    return b;
  }

  void finish(Parallel& parallel) {
    constexpr int64_t kSide = ExactKernels<S>::kColumns;
    const int64_t row_chunks = divide_up(grid_.m, kSide), col_chunks = divide_up(grid_.n, kSide);
    const ExactBlock sums = block();
    const auto body = [&](int64_t chunk, int) {
      const int64_t i = chunk / col_chunks * kSide, j = chunk % col_chunks * kSide;
      const int64_t rows = std::min(kSide, grid_.m - i), columns = std::min(kSide, grid_.n - j);
      std::uint64_t open[kSide];
      const Matrix<S> c = p_.c.from(i0_ + i, j0_ + j);
      kernel_.finish(sums, p_, i, j, rows, columns, c, open);
      for (int64_t r = 0; r < rows; ++r) {
        for (std::uint64_t bits = open[r]; bits != 0; bits &= bits - 1) {
          const int64_t col = std::countr_zero(bits);
          *c.at(r, col) = open_element(p_, i0_ + i + r, j0_ + j + col);
        }
      }
    };
    parallel.parallel_for(row_chunks * col_chunks, body, Parallel::Order::own);
  }

  const Problem<S>& p_;
  const ExactKernels<S>& kernel_ = exact_kernels<S>();
  int64_t k_block_;
  double *a_, *b_, *sums_, *errors_, *a_size_, *a_low_, *b_size_, *b_low_;
  int64_t i0_, j0_;
  PanelGrid grid_;
  int64_t k0_ = 0, depth_ = 0;
};

template <class Visit>
auto visit_float(std::uint32_t dtype, Visit&& visit) {
  if (dtype == TRINE_F32) return visit.template operator()<float>();
  return visit.template operator()<double>();
}

}  // namespace

float open_element(const Problem<float>& p, int64_t i, int64_t j) {
  const ExactKernels<float>& kernel = exact_kernels<float>();
  alignas(64) double sums[3 * kLine<double>];
  if (!p.product || !kernel.add_terms(p, i, j, sums)) return exact_element(p, i, j);
  SuperAccumulator sum;
  for (int x = 0; x < 3 * kernel.narrow; ++x) sum.add(sums[x]);
  return rounded(p, sum, p.c.at(i, j));
}

std::size_t exact_workspace_bytes(const trine_gemm& op, int64_t k_block) {
  return visit_float(op.dtype, [&]<class S>() {
    const Blocks blocks = exact_blocks(problem_along_rows<S>(op, 0), k_block);
    return static_cast<std::size_t>(blocks.total) * sizeof(double);
  });
}

void multiply_exactly(const trine_gemm& op, int64_t batch, int64_t k_block, std::byte* workspace,
                      Parallel& parallel) {
  visit_float(op.dtype, [&]<class S>() {
    const Problem<S> p = problem_along_rows<S>(op, batch);
    const Blocks blocks = exact_blocks(p, k_block);
    for (int64_t i = 0; i < p.m; i += blocks.m)
      for (int64_t j = 0; j < p.n; j += blocks.n)
        ExactStep<S>(p, blocks, reinterpret_cast<double*>(workspace), i, j).run(parallel);
  });
}

}  // namespace trine::cpu::gemm
