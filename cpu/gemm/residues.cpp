// residues: exact products of f32 by products of bytes (residues.hpp), in blocks:
//
//   for i0 in m by rows:     convert A(i0…)                        in parallel
//     for j0 in n by columns: convert B(…, j0…)                    in parallel
//       for each chunk of C, for each modulus: multiply; finish    in parallel
//
// A chunk's columns of B stay in a second cache while a modulus is at work, and its products,
// reduced to bytes, stay there until they are finished.
#include "gemm/residues.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "gemm/exact.hpp"
#include "gemm/rungs.hpp"

namespace trine::cpu::gemm {
namespace {

using std::int64_t;

constexpr int64_t kMostSteps = 1 << 16;  // of k
constexpr int64_t kMostBytes = 1 << 24;  // of a modulus's A
constexpr int64_t kChunkColumns = 512;
// The chunk of one thread is long; those of several are short, so that all have some.
constexpr int64_t kLongChunk = 1024, kShortChunk = 256;
// Behind a modulus's bytes, so that the lines of one element don't meet in a cache.
constexpr int64_t kApart = 4096 + 64 * 21;
constexpr int kSamples = 8;  // rows and columns

// `extent` in as few equal chunks as there are of `most`.
int64_t chunk_of(int64_t extent, int64_t most) {
  return round_up(divide_up(extent, divide_up(extent, most)), kSide);
}

struct Layout {
  int64_t depth, rows, columns, chunk_rows, chunk_columns;
  int64_t a_stride, b_stride, c_stride;

  Layout(int64_t m, int64_t n, int64_t k, int threads) {
    depth = round_up(k, kDeep);
    rows = chunk_of(m, std::max(kLongChunk, kMostBytes / depth / kSide * kSide));
    chunk_rows = chunk_of(rows, threads == 1 ? kLongChunk : kShortChunk);
    chunk_columns = chunk_of(n, kChunkColumns);
    const int64_t bands = threads == 1 ? 1 : divide_up(2 * threads, divide_up(rows, chunk_rows));
    columns = std::min(round_up(n, kSide), bands * chunk_columns);
    a_stride = rows * depth + kApart;
    b_stride = columns * depth + kApart;
    c_stride = chunk_rows * chunk_columns + kApart;
  }
  int64_t bytes(int moduli, int threads) const {
    return 3 * 8 * (rows + columns) + moduli * (a_stride + b_stride + threads * c_stride);
  }
};

// A row or column: its squares, and how many of its elements have the lowest bit 2^(q - kLowest).
struct Lowest {
  static constexpr int kLowest = 149, kCount = 278;
  double squares = 0;
  int counts[kCount] = {};

  void add(float x) {
    squares += double{x} * x;
    if (x == 0 || !std::isfinite(x)) return;
    int exponent = 0;
    const auto digits = static_cast<std::int32_t>(std::ldexp(std::frexp(x, &exponent), 24));
    ++counts[exponent - 24 + __builtin_ctz(static_cast<unsigned>(digits)) + kLowest];
  }
  // About the norm of what rounding loses for a scaled norm of at most `largest`.
  double lost(double largest) const {
    if (squares == 0 || !std::isfinite(squares)) return 0;
    const int unit = -std::ilogb(largest / std::sqrt(squares));
    int count = 0;
    for (int q = 0; q < std::min(unit + kLowest, kCount); ++q) count += counts[q];
    return std::ldexp(std::sqrt(count / 12.0), unit);
  }
};

// Some rows of A, some columns of B, and their dot products.
class Sample {
 public:
  explicit Sample(const Problem<float>& p) {
    for (int64_t k = 0; k < p.k; ++k) {
      float x[kSamples], y[kSamples];
      for (int s = 0; s < kSamples; ++s) {
        x[s] = *p.a.at((2 * s + 1) * p.m / (2 * kSamples), k);
        y[s] = *p.b.at(k, (2 * s + 1) * p.n / (2 * kSamples));
        a_[s].add(x[s]);
        b_[s].add(y[s]);
      }
      for (int s = 0; s < kSamples; ++s)
        for (int t = 0; t < kSamples; ++t) dots_[s][t] += double{x[s]} * y[t];
    }
  }

  // About the share of elements that are uncertain with vectors of norms up to `largest`: that of
  // the midpoints between floats that are no farther away than the bound.
  double uncertain(double largest) const {
    double sum = 0, lost_b[kSamples];
    for (int t = 0; t < kSamples; ++t) lost_b[t] = b_[t].lost(largest);
    for (int s = 0; s < kSamples; ++s) {
      const double norm = std::sqrt(a_[s].squares), lost = a_[s].lost(largest);
      for (int t = 0; t < kSamples; ++t) {
        const double error = lost * std::sqrt(b_[t].squares) + norm * lost_b[t];
        const double share = error * 0x1p24 / std::fabs(dots_[s][t]);
        sum += error == 0 ? 0 : share < 1 ? share : 1;
      }
    }
    return sum / (kSamples * kSamples);
  }

 private:
  Lowest a_[kSamples], b_[kSamples];
  double dots_[kSamples][kSamples] = {};
};

double largest_for(int moduli, int64_t k) {
  return tables::bound_of(moduli) - std::sqrt(static_cast<double>(k)) / 2;  // rounding adds that
}

// A few columns of bounds in a workspace.
Bounds bounds_at(std::byte* at, int64_t extent) {
  auto* const d = reinterpret_cast<double*>(at);
  return {d, d + extent, d + 2 * extent};
}

void convert_all(const ResidueKernels& kernels, const Moduli& moduli, bool is_b,
                 Matrix<const float> from, int64_t rows, int64_t k, Residues to, Bounds bounds,
                 Parallel& parallel) {
  constexpr int64_t kRows = kConvertedPanels * kSide;
  const double largest = largest_for(moduli.count, k);
  const auto body = [&](int64_t chunk, int) {
    const int64_t i = chunk * kRows;
    kernels.convert(moduli, is_b, from.from(i, 0), std::min(kRows, rows - i), k, largest,
                    to.from(i * round_up(k, kDeep)), bounds.from(i));
  };
  parallel.parallel_for(divide_up(rows, kRows), body);
}

}  // namespace

Moduli::Moduli(int wanted)
    : count(wanted),
      limbs(tables::limbs_of(wanted)),
      recombination(tables::recombination_of(wanted)) {
  for (const bool is_b : {false, true})
    for (int i = 0; i < count; ++i)
      reductions[is_b][i] = tables::reduction_of(count, i, is_b, true);
}

// A modulus more, or uncertain elements: one of these costs about as much as 2000 with a modulus
// more.
int choose_moduli(const Problem<float>& p) {
  constexpr double kOneElement = 2e3, kTooMany = 1e-3;
  const Sample sample(p);
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int count = 4; count <= tables::MOST && count < least; ++count) {
    const double uncertain = sample.uncertain(largest_for(count, p.k));
    const double cost = count + kOneElement * uncertain;
    if (!(uncertain < kTooMany) || cost >= least) continue;
    best = count;
    least = cost;
  }
  return best;
}

std::size_t residues_bytes(int64_t m, int64_t n, int64_t k, int threads) {
  return static_cast<std::size_t>(Layout(m, n, k, threads).bytes(tables::MOST, threads));
}

void multiply_residues(const ResidueKernels& kernels, int count, const Problem<float>& p,
                       std::byte* workspace, Parallel& parallel) {
  const Moduli moduli(count);
  const int threads = parallel.threads();
  const Layout at(p.m, p.n, p.k, threads);
  const Bounds a_bounds = bounds_at(workspace, at.rows);
  const Bounds b_bounds = bounds_at(workspace + 3 * 8 * at.rows, at.columns);
  auto* const bytes = reinterpret_cast<std::int8_t*>(workspace) + 3 * 8 * (at.rows + at.columns);
  const Residues a{bytes, at.a_stride}, b{bytes + count * at.a_stride, at.b_stride};
  std::int8_t* const c = b.data + count * at.b_stride;
  for (int64_t i0 = 0; i0 < p.m; i0 += at.rows) {
    const int64_t rows = std::min(at.rows, p.m - i0);
    convert_all(kernels, moduli, false, p.a.from(i0, 0), rows, p.k, a, a_bounds, parallel);
    for (int64_t j0 = 0; j0 < p.n; j0 += at.columns) {
      const int64_t columns = std::min(at.columns, p.n - j0);
      const auto from_b = p.b.from(0, j0).transposed();
      convert_all(kernels, moduli, true, from_b, columns, p.k, b, b_bounds, parallel);
      const int64_t row_chunks = divide_up(rows, at.chunk_rows);
      const auto body = [&](int64_t chunk, int thread) {
        const int64_t i = chunk % row_chunks * at.chunk_rows;
        const int64_t j = chunk / row_chunks * at.chunk_columns;
        const ResidueBlock block{a.from(i * at.depth),
                                 b.from(j * at.depth),
                                 {c + thread * count * at.c_stride, at.c_stride},
                                 divide_up(std::min(at.chunk_rows, rows - i), kSide),
                                 divide_up(std::min(at.chunk_columns, columns - j), kSide),
                                 at.depth};
        kernels.multiply(moduli, block);
        kernels.finish(moduli, block, a_bounds.from(i), b_bounds.from(j), p, i0 + i, j0 + j);
      };
      parallel.parallel_for(row_chunks * divide_up(columns, at.chunk_columns), body);
    }
  }
}

const char* residues_refuse(const trine_gemm& op, const int64_t*) {
  if (!trine_is_exact(&op) || op.dtype != TRINE_F32) return "it does exact products of f32 alone";
  if (op.a.cols > kMostSteps) return "for k above 65536 its workspace would be too large";
  return lacks_tiles();
}

// Conversions and roundings pay by long sums, and threads by enough chunks for each
// (docs/decisions/exact-products.md).
bool residues_pay(const trine_gemm& op, int threads) {
  constexpr int64_t kLeast = 1024;
  constexpr double kProducts = 1 << 28;  // of a thread
  const int64_t m = op.c.rows, n = op.c.cols, k = op.a.cols;
  return std::min({m, n, k}) >= kLeast && double(m) * double(n) * double(k) >= kProducts * threads;
}

std::size_t residues_workspace_bytes(const trine_gemm& op, const int64_t* parameters, int threads) {
  const Extents c = extents_along_rows(op.c);
  if (c.m == 0 || c.n == 0 || op.a.cols == 0) return exact_workspace_bytes(op, parameters[0]);
  return std::max(exact_workspace_bytes(op, parameters[0]),
                  residues_bytes(c.m, c.n, op.a.cols, threads));
}

void run_residues(const trine_gemm& op, const int64_t* parameters, void* workspace,
                  Parallel& parallel) {
  if (op.c.rows == 0 || op.c.cols == 0) return;
  auto* const memory = static_cast<std::byte*>(workspace);
  for (int64_t i = 0; i < op.c.batch; ++i) {
    const Problem<float> p = problem_along_rows<float>(op, i);
    const bool usual = p.product && std::isfinite(p.alpha) && std::isfinite(p.beta);
    const int moduli = usual ? choose_moduli(p) : 0;
    if (moduli != 0) {
      multiply_residues(*residue_kernels(true), moduli, p, memory, parallel);
    } else {
      multiply_exactly(op, i, parameters[0], memory, parallel);
    }
  }
}

}  // namespace trine::cpu::gemm
