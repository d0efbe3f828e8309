// A product by register tiles, straight from the operands: B is broadcast from where it lies, A is
// loaded along its columns; only a transposed A is packed, one panel of rows at a time, or
// transposed in registers where there is one column of B.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "hwy/cache_control.h"
#include "kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

using blas::Product;

// From the chains' ends: c = alpha acc + beta c. A lane without its own c adds nothing, as an
// infinite beta by a zero would raise a flag.
template <class T, class D, class V = hn::Vec<D>>
HWY_INLINE void finish_lanes(const Product<T>& p, D d, V acc, hn::Mask<D> mask, T* c) {
  V t = hn::Zero(d);
  if (p.reads_inputs()) t = hn::Mul(hn::Set(d, p.alpha), hn::Add(acc, t));
  if (p.beta != 0) {
    const V beta = hn::IfThenElseZero(mask, hn::Set(d, p.beta));
    t = fused_multiply_add(d, beta, load_lanes(d, mask, c), t);
  }
  store_lanes(d, mask, t, c);
}

// 32 registers: 3 x 8 accumulators; 16: 2 x 4. One column has as many vectors as there may be
// columns, to hide fma's latency.
constexpr int kMostCols = HWY_TARGET == HWY_AVX3 ? 8 : 4, kMostWidth = kMostCols == 8 ? 3 : 2;
template <class T, From kFrom, int... kCounts>
gemm::TileFunction<T> find_tile(int64_t vectors, int64_t cols,
                                std::integer_sequence<int, kCounts...>) {
  using Function = gemm::TileFunction<T>;
  static constexpr Function kThin[] = {compute_at_once<1, kCounts + 1, kFrom, T>...};
  static constexpr Function kWide[][kMostCols] = {
      {compute_at_once<kCounts + 1, 1, kFrom, T>...},
      {compute_at_once<kCounts + 1, 2, kFrom, T>...},
      {compute_at_once<kCounts + 1, kMostWidth, kFrom, T>...}};
  return cols == 1 ? kThin[vectors - 1] : kWide[vectors - 1][cols - 1];
}

// Rows i0 … of C, `rows` of them in `vectors`, and `cols` columns from j0: the backend's tile of
// C's transpose, whose rows are C's columns.
template <class T>
HWY_INLINE void tile(const Product<T>& p, const T* a, int64_t a_step, int64_t i0, int64_t rows,
                     int64_t vectors, int64_t j0, int64_t cols) {
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  constexpr auto kAll = std::make_integer_sequence<int, kMostCols>();
  const bool reads = p.reads_inputs();
  gemm::Tile<T> t;
  t.k = reads ? p.k : 0;
  t.a = p.b.data + j0 * p.b.col_stride, t.a_row = p.b.col_stride, t.a_step = p.b.row_stride;
  t.b = a, t.b_step = a_step;
  t.to = p.c + i0 + j0 * p.ldc, t.to_stride = p.ldc;
  t.reads_c = p.beta != 0;
  t.alpha = reads ? p.alpha : T(0), t.beta = p.beta;
  t.cols = static_cast<int>(rows);
  (rows == vectors * kLanes ? find_tile<T, From::kWholePlace>(vectors, cols, kAll)
                            : find_tile<T, From::kLastPart>(vectors, cols, kAll))(t);
}

// The chains of kGroups vectors of rows from i0, for C's column j, of an A whose rows are
// contiguous: 16 bytes of each row are loaded where they lie and transposed in registers, so that a
// lane is a row. Every chain has a latency of an fma for each k; many groups hide it. The last
// group ends with A's last row at most; then its first rows are another's too, and aren't stored
// twice. kWhole: A has rows for a group.
template <class T, int kGroups, bool kWhole = true>
void row_chains(const Product<T>& p, int64_t i0, int64_t j) {
  const hn::CappedTag<T, 32 / sizeof(T)> d;
  constexpr int kLanes = hn::MaxLanes(d), kBlock = std::min<int>(kLanes, 16 / sizeof(T));
  const hn::CappedTag<T, kBlock> block;
  using V = hn::Vec<decltype(d)>;
  const int64_t stride = p.a.row_stride, high = kWhole ? kLanes : p.m,
                shared = std::max<int64_t>(0, i0 + (kGroups - 1) * kLanes + high - p.m);
  const T* a = p.a.data + i0 * stride;
  const T* b = p.b.data + j * p.b.col_stride;
  V acc[kGroups];
#pragma GCC unroll 8
  for (V& v : acc) v = hn::Zero(d);
  // The next columns of A, `count` of them; load(at) has their elements of a row.
  const auto step = [&](int count, auto load) HWY_ATTR {
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) {
      const T* group = a + g * kLanes * stride - (g + 1 < kGroups ? 0 : shared * stride);
      const auto row = [&](int64_t r) {
        return group + (kWhole ? r : std::min(r, high - 1)) * stride;
      };
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
  const auto lanes = hn::FirstN(d, static_cast<size_t>(high));
  const auto own = hn::AndNot(hn::FirstN(d, static_cast<size_t>(shared)), lanes);
  T* const c = p.c + i0 + j * p.ldc;
#pragma GCC unroll 8
  for (int g = 0; g + 1 < kGroups; ++g) finish_lanes(p, d, acc[g], lanes, c + g * kLanes);
  finish_lanes(p, d, acc[kGroups - 1], own, c + (kGroups - 1) * kLanes - shared);
}
template <class T, int... kCounts>
void row_chains(const Product<T>& p, int64_t j, std::integer_sequence<int, kCounts...>) {
  using Function = void (*)(const Product<T>&, int64_t, int64_t);
  static constexpr Function kByGroups[] = {row_chains<T, kCounts + 1>...};
  constexpr int64_t kLanes = hn::MaxLanes(hn::CappedTag<T, 32 / sizeof(T)>()),
                    kMost = sizeof...(kCounts);
  if (p.m < kLanes) return row_chains<T, 1, false>(p, 0, j);
  for (int64_t i = 0, groups; i < p.m; i += groups * kLanes) {
    groups = std::min(kMost, (p.m - i + kLanes - 1) / kLanes);
    kByGroups[groups - 1](p, i, j);
  }
}
template <class T>
void row_chains(const Product<T>& p, int64_t j) {
  row_chains(p, j, std::make_integer_sequence<int, sizeof(T)>());  // 32 rows of 32 bytes each
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
      // Infinity by the zero of a lane without an element would raise a flag.
      const auto own_factor = hn::IfThenElseZero(along, factor);
      hn::Vec<decltype(d)> square[kLanes];
#pragma GCC unroll 16
      for (int64_t r = 0; r < kLanes; ++r) {
        square[r] = hn::Zero(d);
        if (r < high) square[r] = load_lanes(d, along, from + (i + r) * from_ld + j);
        if (alpha != 1 && r < high) square[r] = hn::Mul(own_factor, square[r]);
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
      if (whole < rows) {
        const auto rest = load_or_first(d, mask, a + whole, a + whole);
        store_lanes(d, mask, change(rest), b + whole);
      }
    }
  };
  if (alpha == 1)
    each([](auto v) HWY_ATTR { return v; });
  else
    each([&](auto v) HWY_ATTR { return hn::Mul(factor, v); });
}

// The rows of the next tiles, of `left` to come: none of one vector beside others, which would wait
// for its broadcasts.
template <class T>
int64_t height_of(int64_t left, int64_t n) {
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  const int64_t most = kLanes * (n == 1 ? kMostCols : kMostWidth);
  const bool is_split = n > 1 && left > most && left <= most + kLanes;
  return std::min(left, is_split ? 2 * kLanes : most);
}

// A is read where it lies, panel after panel for each of C's columns, which the hardware's prefetch
// follows, if it stays in the first cache or has so few columns; else panel by panel for all of C's
// columns.
constexpr int64_t kFewColumns = 32;
// So many elements of a turned A are packed at a time, if they make a panel.
constexpr int64_t kPacked = 4096;

// C by blocks of rows of A; a turned A's are packed first, into `packed`, which is null for others.
template <class T>
HWY_INLINE void gemm_by_blocks(const Product<T>& p, int64_t block, T* packed) {
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  const bool turns = packed != nullptr;
  for (int64_t i0 = 0, end; i0 < p.m; i0 = end) {
    end = p.m - i0 <= block + kLanes ? p.m : i0 + block;
    const auto for_panels = [&](auto f) HWY_ATTR {
      for (int64_t i = i0, rows; i < end; i += rows) {
        rows = height_of<T>(end - i, p.n);
        const int64_t vectors = (rows + kLanes - 1) / kLanes;
        if (turns)
          f(i, rows, vectors, packed + (i - i0) * p.k, vectors * kLanes);
        else
          f(i, rows, vectors, p.a.data + i, p.a.col_stride);
      }
    };
    if (turns)
      for_panels([&](int64_t i, int64_t rows, int64_t, const T* panel, int64_t step) HWY_ATTR {
        turn_tiles(rows, p.k, T(1), p.a.data + i * p.a.row_stride, p.a.row_stride,
                   const_cast<T*>(panel), step);
      });
    for (int64_t j = 0; j < p.n; j += kMostCols)
      for_panels([&](int64_t i, int64_t rows, int64_t vectors, const T* a, int64_t step) HWY_ATTR {
        tile(p, a, step, i, rows, vectors, j, std::min<int64_t>(kMostCols, p.n - j));
      });
  }
}

template <class T>
HWY_NOINLINE void gemm_of_turned(const Product<T>& p) {
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>()), kHeight = kMostWidth * kLanes;
  constexpr int64_t kLine = 64 / sizeof(T);
  const int64_t block = std::max<int64_t>(1, (kPacked / p.k - kLanes) / kHeight) * kHeight;
  alignas(64) T few[kPacked];
  std::unique_ptr<T[]> many;
  T* packed = few;
  if (const int64_t count = (block + kLanes) * p.k; count > kPacked) {
    std::size_t bytes = (count + kLine) * sizeof(T);
    many.reset(new (std::nothrow) T[count + kLine]);
    void* line = many.get();
    packed = static_cast<T*>(std::align(64, count * sizeof(T), line, bytes));
  }
  if (packed)
    gemm_by_blocks(p, block, packed);
  else
    for (int64_t j = 0; j < p.n; ++j) row_chains(p, j);
}

template <class T>
void gemm(const Product<T>& p) {
  if (!is_default_environment()) [[unlikely]]
    return blas::in_default_environment([&] { gemm(p); });
  if (p.a.row_stride != 1 && p.reads_inputs())
    return p.n == 1 ? row_chains(p, 0) : gemm_of_turned(p);
  // The rows of a block, but for the last one, which takes up to kLanes more.
  gemm_by_blocks<T>(p, p.k <= kFewColumns || p.m * p.k <= kPacked ? p.m : height_of<T>(p.m, p.n),
                    nullptr);
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
