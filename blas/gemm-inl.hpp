// A product by register tiles, straight from the operands: B is broadcast from where it lies, A is
// loaded along its columns; only a transposed A is packed, one panel of rows at a time.
#include <algorithm>
#include <memory>

#include "kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

using blas::Product;

// Rows i0 … of C, `rows` of them, and kCols columns from j0: one chain of fma for each, k ascending.
template <class T, int kVectors, int kCols>
void tile(const Product<T>& p, const T* a, int64_t step, int64_t i0, int64_t rows, int64_t j0) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const auto mask = hn::FirstN(d, static_cast<size_t>(rows - (kVectors - 1) * kLanes));
  V acc[kCols][kVectors];
#pragma GCC unroll 8
  for (auto& column : acc)
#pragma GCC unroll 8
    for (V& v : column) v = hn::Zero(d);
  const T* b = p.b.data + j0 * p.b.col_stride;
  for (int64_t k = p.reads_inputs() ? p.k : 0; k > 0; --k) {
    V column[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors - 1; ++v) column[v] = hn::LoadU(d, a + v * kLanes);
    column[kVectors - 1] = load_lanes(d, mask, a + (kVectors - 1) * kLanes);
#pragma GCC unroll 8
    for (int j = 0; j < kCols; ++j) {
      const V x = hn::Set(d, b[j * p.b.col_stride]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) acc[j][v] = fused_multiply_add(d, column[v], x, acc[j][v]);
    }
    a += step;
    b += p.b.row_stride;
  }
  const V alpha = hn::Set(d, p.reads_inputs() ? p.alpha : T(0)), beta = hn::Set(d, p.beta);
#pragma GCC unroll 8
  for (int j = 0; j < kCols; ++j) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      T* const c = p.c + i0 + v * kLanes + (j0 + j) * p.ldc;
      const auto lanes = v + 1 < kVectors ? hn::FirstN(d, kLanes) : mask;
      V t = hn::Mul(alpha, hn::Add(acc[j][v], hn::Zero(d)));
      if (!p.reads_inputs()) t = hn::Zero(d);
      if (p.beta != 0) t = fused_multiply_add(d, beta, load_lanes(d, lanes, c), t);
      store_lanes(d, lanes, t, c);
    }
  }
}

template <class T>
using TileFunction = void (*)(const Product<T>&, const T*, int64_t, int64_t, int64_t, int64_t);

// 32 registers: 2 x 8 accumulators; 16: 2 x 4. One column has as many vectors, to hide fma's latency.
constexpr int kMostCols = HWY_TARGET == HWY_AVX3 ? 8 : 4;
template <class T, int... kCounts>
TileFunction<T> find_tile(int vectors, int cols, std::integer_sequence<int, kCounts...>) {
  static constexpr TileFunction<T> kThin[] = {tile<T, kCounts + 1, 1>...};
  static constexpr TileFunction<T> kSingle[] = {tile<T, 1, kCounts + 1>...};
  static constexpr TileFunction<T> kDouble[] = {tile<T, 2, kCounts + 1>...};
  return cols == 1 ? kThin[vectors - 1] : (vectors == 1 ? kSingle : kDouble)[cols - 1];
}

// Square tiles, transposed in registers.
template <class T>
void turn(int64_t rows, int64_t cols, T alpha, const T* from, int64_t from_ld, T* to,
          int64_t to_ld) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const auto factor = hn::Set(d, alpha);
  for (int64_t i = 0; i < rows; i += kLanes) {
    const int64_t high = std::min(kLanes, rows - i);
    const auto down = hn::FirstN(d, static_cast<size_t>(high));
    for (int64_t j = 0; j < cols; j += kLanes) {
      const int64_t wide = std::min(kLanes, cols - j);
      const auto along = hn::FirstN(d, static_cast<size_t>(wide));
      hn::Vec<decltype(d)> square[kLanes];
#pragma GCC unroll 16
      for (int64_t r = 0; r < kLanes; ++r) {
        square[r] = hn::Zero(d);
        if (r < high) square[r] = load_lanes(d, along, from + (i + r) * from_ld + j);
        if (alpha != 1) square[r] = hn::Mul(factor, square[r]);
      }
      transpose_registers<sizeof(T)>(d, square);
#pragma GCC unroll 16
      for (int64_t r = 0; r < kLanes; ++r)
        if (r < wide) store_lanes(d, down, square[r], to + (j + r) * to_ld + i);
    }
  }
}

template <class T>
void gemm(const Product<T>& p) {
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  constexpr std::make_integer_sequence<int, kMostCols> kCounts;
  const int64_t height = kLanes * (p.n == 1 ? kMostCols : 2);
  const bool packs = p.a.row_stride != 1 && p.reads_inputs();
  alignas(64) T few[4096];
  std::unique_ptr<T[]> many;
  T* panel = few;
  const int64_t needed = packs ? height * p.k : 0;
  if (needed > int64_t(std::size(few))) {
    many.reset(new T[needed]);
    panel = many.get();
  }
  for (int64_t i0 = 0; i0 < p.m; i0 += height) {
    const int64_t rows = std::min(height, p.m - i0);
    const int vectors = static_cast<int>((rows + kLanes - 1) / kLanes);
    if (packs) turn(rows, p.k, T(1), p.a.data + i0 * p.a.row_stride, p.a.row_stride, panel, height);
    const T* const a = packs ? panel : p.a.data + i0;
    const int64_t step = packs ? height : p.a.col_stride;
    for (int64_t j0 = 0; j0 < p.n; j0 += kMostCols) {
      const int cols = static_cast<int>(std::min<int64_t>(kMostCols, p.n - j0));
      find_tile<T>(vectors, cols, kCounts)(p, a, step, i0, rows, j0);
    }
  }
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
