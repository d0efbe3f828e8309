// widened: chains in f64, of f32. Blocks of A and B are written as f64, micro_kernel multiplies them, and the chains
// of a block of C, f64 in the workspace, are scaled and rounded once into C. k ascends block by block, each of which
// continues the chains.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/widened.cpp"
#include <algorithm>

#include "gemm/rungs.hpp"
#include "simd.hpp"

#include "gemm/chain-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

void widen_line(const float* HWY_RESTRICT from, int64_t stride, int64_t count,
                double* HWY_RESTRICT to) {
  if (stride == 1) {
    for (int64_t j = 0; j < count; ++j) to[j] = from[j];
  } else {
    for (int64_t j = 0; j < count; ++j) to[j] = from[j * stride];
  }
}

// Row i of C, columns j0 …
void round_line(const gemm::Problem<float>& p, int64_t i, int64_t j0, int64_t count,
                const double* chains) {
  for (int64_t j = 0; j < count; ++j) finish(p, chains[j], p.c.at(i, j0 + j));
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(widen_line);
HWY_EXPORT(round_line);

namespace gemm {
namespace {

using std::int64_t;

// Sides of a block of C, and of one along k. An element of A or B is written as f64 once for so many of C's columns
// or rows.
constexpr int64_t kSide = 2048, kDepth = 512;
// Elements of a pile of small products.
constexpr int64_t kPile = int64_t{1} << 21;
constexpr int64_t kMicroKernel[] = {1024};  // its k_block

// Extents of a block, and where its parts lie in the workspace, in f64.
struct Block {
  int64_t batch, m, n, k;

  int64_t a() const { return round_up(batch * m * k, 8); }
  int64_t b() const { return round_up(batch * k * n, 8); }
  int64_t c() const { return round_up(batch * m * n, 8); }
};

Block block_of(const trine_gemm& op) {
  const Extents c = extents_along_rows(op.c);
  Block r{1, std::min(c.m, kSide), std::min(c.n, kSide), std::min(depth(op), kDepth)};
  const int64_t elements = std::max<int64_t>(1, r.m * r.k + r.k * r.n + r.m * r.n);
  r.batch = std::clamp<int64_t>(kPile / elements, 1, std::max<int64_t>(1, op.c.batch));
  return r;
}

// Widened operands lie as their sources do, so that lines are read along memory.
trine_view view_of(double* data, int64_t rows, int64_t cols, int64_t batch, bool by_columns) {
  return {data, 0, rows, cols, batch, by_columns ? 1 : cols, by_columns ? rows : 1, rows * cols};
}

template <class T>
bool is_by_columns(const Matrix<T>& x) {
  return x.row_stride == 1 && x.col_stride != 1;
}

trine_gemm product_of(double* memory, const Block& most, const Block& block,
                      const Problem<float>& p, bool continues) {
  trine_gemm op{};
  op.size = sizeof op;
  op.numerics = TRINE_REPRODUCIBLE;
  op.dtype = TRINE_F64;
  op.alpha.f64 = 1;
  op.a = view_of(memory, block.m, block.k, block.batch, is_by_columns(p.a));
  op.b = view_of(memory + most.a(), block.k, block.n, block.batch, is_by_columns(p.b));
  op.c = view_of(memory + most.a() + most.b(), block.m, block.n, block.batch, false);
  op.flags = continues ? TRINE_CONTINUES : 0;
  return op;
}

// Rows i0 … and columns j0 … of `from(batch)`, into all of `to`.
template <class From>
void widen(const trine_view& to, From&& from, int64_t i0, int64_t j0, Parallel& parallel) {
  const auto line = HWY_DYNAMIC_DISPATCH(widen_line);
  const bool by_columns = to.col_stride != 1;
  const int64_t lines = by_columns ? to.cols : to.rows, count = by_columns ? to.rows : to.cols;
  const int64_t group =
      divide_up(4096, std::max<int64_t>(1, count));  // of lines, worth a hand-over
  parallel.parallel_for(divide_up(to.batch * lines, group), [&](int64_t piece, int) {
    const int64_t end = std::min((piece + 1) * group, to.batch * lines);
    for (int64_t x = piece * group; x < end; ++x) {
      const Matrix<const float> source = from(x / lines);
      const int64_t l = x % lines;
      const float* const at = by_columns ? source.at(i0, j0 + l) : source.at(i0 + l, j0);
      line(at, by_columns ? source.row_stride : source.col_stride, count,
           static_cast<double*>(to.memory) + x * count);
    }
  });
}

// The last blocks along each extent are smaller, and may go another way in micro_kernel.
template <class Visit>
void each_kind(const trine_gemm& op, const Block& most, Visit&& visit) {
  const Extents c = extents_along_rows(op.c);
  const auto last = [](int64_t extent, int64_t by) {
    return by == 0 || extent % by == 0 ? by : extent % by;
  };
  for (const int64_t batch : {most.batch, last(op.c.batch, most.batch)})
    for (const int64_t m : {most.m, last(c.m, most.m)})
      for (const int64_t n : {most.n, last(c.n, most.n)})
        for (const int64_t k : {most.k, last(depth(op), most.k)}) visit(Block{batch, m, n, k});
}

}  // namespace

const char* widened_refuses(const trine_gemm& op, const int64_t*) {
  return trine_is_accurate(&op) ? nullptr : "is for numerics accurate alone: its chains are f64";
}

std::size_t widened_workspace_bytes(const trine_gemm& op, const int64_t*, int threads) {
  const Block most = block_of(op);
  const Problem<float> p = problem_along_rows<float>(op, 0);
  std::size_t product = 0;
  each_kind(op, most, [&](const Block& block) {
    for (const bool continues : {false, true})
      product = std::max(
          product, micro_kernel_workspace_bytes(product_of(nullptr, most, block, p, continues),
                                                kMicroKernel, threads));
  });
  return static_cast<std::size_t>(most.a() + most.b() + most.c()) * sizeof(double) + product;
}

void run_widened(const trine_gemm& op, const int64_t*, void* workspace, Parallel& parallel) {
  const auto round = HWY_DYNAMIC_DISPATCH(round_line);
  const Block most = block_of(op);
  const Problem<float> p = problem_along_rows<float>(op, 0);
  double* const memory = static_cast<double*>(workspace);
  double* const chains = memory + most.a() + most.b();
  void* const rest = chains + most.c();
  for (int64_t s = 0; s < op.c.batch; s += most.batch)
    for (int64_t i0 = 0; i0 < p.m; i0 += most.m)
      for (int64_t j0 = 0; j0 < p.n; j0 += most.n) {
        Block block{std::min(most.batch, op.c.batch - s), std::min(most.m, p.m - i0),
                    std::min(most.n, p.n - j0), 0};
        for (int64_t k0 = 0; k0 < p.depth(); k0 += most.k) {
          block.k = std::min(most.k, p.k - k0);
          const trine_gemm product = product_of(memory, most, block, p, k0 > 0);
          const auto of = [&](int64_t x) { return problem_along_rows<float>(op, s + x); };
          widen(
              product.a, [&](int64_t x) { return of(x).a; }, i0, k0, parallel);
          widen(
              product.b, [&](int64_t x) { return of(x).b; }, k0, j0, parallel);
          run_micro_kernel(product, kMicroKernel, rest, parallel);
        }
        parallel.parallel_for(block.batch * block.m, [&](int64_t x, int) {
          round(problem_along_rows<float>(op, s + x / block.m), i0 + x % block.m, j0, block.n,
                chains + x * block.n);
        });
      }
}

}  // namespace gemm
}  // namespace trine::cpu
#endif
