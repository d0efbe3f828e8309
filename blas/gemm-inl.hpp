// A product by register tiles, straight from the operands: B is broadcast from where it lies, A is
// loaded along its columns; only a transposed A is packed, one panel of rows at a time, or
// transposed in registers where there is one column of B.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

using blas::Product;

// What becomes of the chains' ends: c = alpha acc + beta c.
template <class T, class D, class V = hn::Vec<D>>
HWY_INLINE void finish(const Product<T>& p, D d, V acc, hn::Mask<D> mask, T* c) {
  V t = hn::Zero(d);
  if (p.reads_inputs()) t = hn::Mul(hn::Set(d, p.alpha), hn::Add(acc, t));
  if (p.beta != 0) t = fused_multiply_add(d, hn::Set(d, p.beta), load_lanes(d, mask, c), t);
  store_lanes(d, mask, t, c);
}

// Rows i0 … of C, `rows` of them, and kCols columns from j0: one chain of fma for each, k
// ascending.
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
  if (rows == kVectors * kLanes && p.beta == 0 && p.reads_inputs()) {
    const V alpha = hn::Set(d, p.alpha), zero = hn::Zero(d);
    T* c = p.c + i0 + j0 * p.ldc;
#pragma GCC unroll 8
    for (int j = 0; j < kCols; ++j, c += p.ldc)
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v)
        hn::StoreU(hn::Mul(alpha, hn::Add(acc[j][v], zero)), d, c + v * kLanes);
    return;
  }
#pragma GCC unroll 8
  for (int j = 0; j < kCols; ++j) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      finish(p, d, acc[j][v], v + 1 < kVectors ? hn::FirstN(d, kLanes) : mask,
             p.c + i0 + v * kLanes + (j0 + j) * p.ldc);
  }
}

template <class T>
using TileFunction = void (*)(const Product<T>&, const T*, int64_t, int64_t, int64_t, int64_t);

// 32 registers: 2 x 8 accumulators; 16: 2 x 4. One column has as many vectors, to hide fma's
// latency.
constexpr int kMostCols = HWY_TARGET == HWY_AVX3 ? 8 : 4;
template <class T, int... kCounts>
TileFunction<T> find_tile(int vectors, int cols, std::integer_sequence<int, kCounts...>) {
  static constexpr TileFunction<T> kThin[] = {tile<T, kCounts + 1, 1>...};
  static constexpr TileFunction<T> kSingle[] = {tile<T, 1, kCounts + 1>...};
  static constexpr TileFunction<T> kDouble[] = {tile<T, 2, kCounts + 1>...};
  return cols == 1 ? kThin[vectors - 1] : (vectors == 1 ? kSingle : kDouble)[cols - 1];
}

// Of an A whose rows are contiguous, the chains of kGroups vectors of rows from i0, for C's column
// j: 16 bytes of each row are loaded where they lie and transposed in registers, so that a lane is
// a row. Every chain has a latency of an fma for each k; many groups hide it. kWhole: all the rows
// are there. `first`: the first lane to be stored.
template <class T, int kGroups, bool kWhole = true>
void row_chains(const Product<T>& p, int64_t i0, int64_t j, int64_t first = 0) {
  const hn::CappedTag<T, 32 / sizeof(T)> d;
  // f64: rows of a square, which is fewer loads.
  constexpr int kLanes = hn::MaxLanes(d);
  constexpr int kBlock = sizeof(T) == 8 ? kLanes : std::min<int>(kLanes, 16 / sizeof(T));
  const hn::CappedTag<T, kBlock> block;
  using V = hn::Vec<decltype(d)>;
  const int64_t stride = p.a.row_stride, last = kWhole ? 0 : p.m - 1 - i0;
  const T* a = p.a.data + i0 * stride;
  const T* b = p.b.data + j * p.b.col_stride;
  V acc[kGroups];
#pragma GCC unroll 8
  for (V& v : acc) v = hn::Zero(d);
  // The next columns of A, `count` of them; load(at) has their elements of a row.
  const auto step = [&](int count, auto load) HWY_ATTR {
    const T* group = a;
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g, group += kLanes * stride) {
      const auto row = [&](int64_t r) { return group + (kWhole ? r : std::min(r, last)) * stride; };
      V column[kBlock];
#pragma GCC unroll 4
      for (int r = 0; r < kBlock; ++r) {
#if HWY_TARGET == HWY_SCALAR
        column[r] = load(row(r));
#else
        if constexpr (kLanes > kBlock)
          column[r] = hn::Combine(d, load(row(r + kBlock)), load(row(r)));
        else
          column[r] = load(row(r));
#endif
      }
#if HWY_TARGET != HWY_SCALAR
      if constexpr (kBlock == kLanes)
        transpose_registers<sizeof(T)>(d, column);
      else
        transpose_within_blocks<kBlock>(d, column);
#endif
#pragma GCC unroll 4
      for (int c = 0; c < kBlock; ++c)
        if (c < count)
          acc[g] = fused_multiply_add(d, column[c], hn::Set(d, b[c * p.b.row_stride]), acc[g]);
    }
    a += kBlock;
    b += kBlock * p.b.row_stride;
  };
  int64_t k = p.k;
  for (; k >= kBlock; k -= kBlock)
    step(kBlock, [&](const T* at) HWY_ATTR { return hn::LoadU(block, at); });
  if (k > 0) {
    const auto mask = hn::FirstN(block, static_cast<size_t>(k));
    step(static_cast<int>(k), [&](const T* at) HWY_ATTR { return load_lanes(block, mask, at); });
  }
  const auto lanes = hn::FirstN(d, static_cast<size_t>(kWhole ? kLanes : last + 1));
  const auto wanted = hn::AndNot(hn::FirstN(d, static_cast<size_t>(first)), lanes);
#pragma GCC unroll 8
  for (int g = 0; g < kGroups; ++g) finish(p, d, acc[g], wanted, p.c + i0 + g * kLanes + j * p.ldc);
}
template <class T, int... kCounts>
void row_chains(const Product<T>& p, int64_t j, std::integer_sequence<int, kCounts...>) {
  using Function = void (*)(const Product<T>&, int64_t, int64_t, int64_t);
  static constexpr Function kByGroups[] = {row_chains<T, kCounts + 1>...};
  constexpr int64_t kLanes = hn::MaxLanes(hn::CappedTag<T, 32 / sizeof(T)>()),
                    kMost = sizeof...(kCounts);
  if (p.m < kLanes) return row_chains<T, 1, false>(p, 0, j);
  int64_t i = 0;
  while (const int64_t groups = std::min(kMost, (p.m - i) / kLanes)) {
    kByGroups[groups - 1](p, i, j, 0);
    i += groups * kLanes;
  }
  if (i < p.m) row_chains<T, 1>(p, p.m - kLanes, j, kLanes - (p.m - i));
}

// Square tiles, transposed in registers.
template <class T, class D = hn::ScalableTag<T>>
void turn_tiles(int64_t rows, int64_t cols, T alpha, const T* from, int64_t from_ld, T* to,
                int64_t to_ld) {
  const D d;
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
void turn(int64_t rows, int64_t cols, T alpha, const T* a, int64_t lda, T* b, int64_t ldb) {
  if (!is_default_environment()) [[unlikely]]
    return blas::in_default_environment([=] { turn(rows, cols, alpha, a, lda, b, ldb); });
  if (rows > 8 || cols > 8) return turn_tiles(cols, rows, alpha, a, lda, b, ldb);
  if (rows > 4 || cols > 4)
    return turn_tiles<T, hn::CappedTag<T, 8>>(cols, rows, alpha, a, lda, b, ldb);
  for (int64_t j = 0; j < cols; ++j)  // sooner done than a square is filled
    for (int64_t i = 0; i < rows; ++i) {
      if (alpha == 1)  // a product would quiet a NaN
        std::memcpy(b + i * ldb + j, a + j * lda + i, sizeof(T));
      else
        b[i * ldb + j] = alpha * a[j * lda + i];
    }
}

template <class T>
void copy(int64_t rows, int64_t cols, T alpha, const T* a, int64_t lda, T* b, int64_t ldb) {
  if (!is_default_environment()) [[unlikely]]
    return blas::in_default_environment([=] { copy(rows, cols, alpha, a, lda, b, ldb); });
  const hn::ScalableTag<T> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const auto factor = hn::Set(d, alpha);
  const int64_t whole = rows / kLanes * kLanes;
  const auto mask = hn::FirstN(d, static_cast<size_t>(rows - whole));
  const auto each = [&](auto change) HWY_ATTR {
    for (int64_t j = 0; j < cols; ++j, a += lda, b += ldb) {
      for (int64_t i = 0; i < whole; i += kLanes) hn::StoreU(change(hn::LoadU(d, a + i)), d, b + i);
      if (whole < rows) store_lanes(d, mask, change(load_lanes(d, mask, a + whole)), b + whole);
    }
  };
  if (alpha == 1)
    each([](auto v) HWY_ATTR { return v; });
  else
    each([&](auto v) HWY_ATTR { return hn::Mul(factor, v); });
}

constexpr std::make_integer_sequence<int, kMostCols> kColumnCounts;
template <class T>
HWY_INLINE void tiles_of_rows(const Product<T>& p, const T* a, int64_t step, int64_t i0,
                              int64_t rows) {
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  const int vectors = static_cast<int>((rows + kLanes - 1) / kLanes);
  for (int64_t j0 = 0; j0 < p.n; j0 += kMostCols) {
    const int cols = static_cast<int>(std::min<int64_t>(kMostCols, p.n - j0));
    find_tile<T>(vectors, cols, kColumnCounts)(p, a, step, i0, rows, j0);
  }
}

template <class T>
HWY_NOINLINE void gemm_of_turned(const Product<T>& p) {
  constexpr std::make_integer_sequence<int, sizeof(T)> kGroups;  // 32 rows of 32 bytes each
  constexpr int64_t kHeight = 2 * hn::MaxLanes(hn::ScalableTag<T>());
  if (p.n == 1) return row_chains(p, 0, kGroups);
  alignas(64) T few[4096];
  std::unique_ptr<T[]> many;
  T* panel = few;
  if (kHeight * p.k > int64_t(std::size(few))) {
    many.reset(new (std::nothrow) T[kHeight * p.k]);
    panel = many.get();
    if (!panel) {
      for (int64_t j = 0; j < p.n; ++j) row_chains(p, j, kGroups);
      return;
    }
  }
  for (int64_t i0 = 0; i0 < p.m; i0 += kHeight) {
    const int64_t rows = std::min(kHeight, p.m - i0), stride = p.a.row_stride;
    turn_tiles(rows, p.k, T(1), p.a.data + i0 * stride, stride, panel, kHeight);
    tiles_of_rows(p, panel, kHeight, i0, rows);
  }
}

template <class T>
void gemm(const Product<T>& p) {
  if (!is_default_environment()) [[unlikely]]
    return blas::in_default_environment([&] { gemm(p); });
  if (p.a.row_stride != 1 && p.reads_inputs()) return gemm_of_turned(p);
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  const int64_t height = kLanes * (p.n == 1 ? kMostCols : 2);
  for (int64_t i0 = 0; i0 < p.m; i0 += height)
    tiles_of_rows(p, p.a.data + i0, p.a.col_stride, i0, std::min(height, p.m - i0));
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
