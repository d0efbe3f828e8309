// Packs panels of A and B: to[k * height + i] = from(i, k), zero for i >= rows. So the register
// tile reads both operands as two ascending streams, whatever their layout. The products that need
// no panels are here, too.
#include "gemm/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {

// from's rows are contiguous along the panel: a masked copy per k. The lines that this panel gets
// next are prefetched.
template <class T>
void pack_along(gemm::Matrix<const T> from, int64_t rows, int64_t k, int height, T* to) {
  const hn::ScalableTag<T> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int i = 0; i < height; i += lanes) {
    const auto valid = hn::FirstN(d, static_cast<size_t>(HWY_MAX(int64_t{0}, rows - i)));
    const auto wanted = hn::FirstN(d, static_cast<size_t>(height - i));
    const T* source = from.data + i;
    T* target = to + i;
    for (int64_t x = 0; x < k; ++x) {
      store_lanes(d, wanted, load_lanes(d, valid, source), target);
      __builtin_prefetch(source + gemm::kPackedLines * from.col_stride, 0, 2);
      source += from.col_stride;
      target += height;
    }
  }
}

// The distance in bytes by which a row is prefetched: without it, shuffles that wait for loads fill
// the window in which a core finds later loads.
constexpr int64_t kTurnedAhead = 512;

// A square tile of a matrix that is contiguous along k, transposed in registers: a vector per step
// of k. Zero past `rows` and `depth`.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void load_turned(D d, gemm::Matrix<const T> from, int64_t rows, int64_t depth,
                            hn::Vec<D>* tile) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  const auto valid = hn::FirstN(d, static_cast<size_t>(depth));
#pragma GCC unroll 16
  for (int r = 0; r < kLanes; ++r) {
    tile[r] = hn::Zero(d);
    if (r >= rows) continue;
    tile[r] = load_lanes(d, valid, from.at(r, 0));
    hwy::Prefetch(from.at(r, 0) + kTurnedAhead / sizeof(T));
  }
  transpose_registers<sizeof(T)>(d, tile);
}

template <class T>
void pack_across(gemm::Matrix<const T> from, int64_t rows, int64_t k, int height, T* to) {
  const hn::ScalableTag<T> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  for (int64_t x = 0; x < k; x += kLanes) {
    const int64_t depth = HWY_MIN(int64_t{kLanes}, k - x);
    for (int i = 0; i < height; i += kLanes) {
      hn::Vec<decltype(d)> tile[kLanes];
      load_turned(d, {from.at(i, x), from.row_stride, from.col_stride}, rows - i, depth, tile);
      const auto wanted = hn::FirstN(d, static_cast<size_t>(height - i));
#pragma GCC unroll 16
      for (int r = 0; r < kLanes; ++r) {
        if (r < depth) store_lanes(d, wanted, tile[r], to + (x + r) * height + i);
      }
    }
  }
}

template <class T>
void pack(gemm::Matrix<const T> from, int64_t rows, int64_t k, int height, T* to) {
  if (from.row_stride == 1 || rows == 1) return pack_along(from, rows, k, height, to);
  if (from.col_stride == 1 || k == 1) return pack_across(from, rows, k, height, to);
  for (int64_t x = 0; x < k; ++x) {  // broadcast: neither stride is 1
    for (int i = 0; i < height; ++i) to[x * height + i] = i < rows ? *from.at(i, x) : T(0);
  }
}

// The same for i32 as halves: a word has two steps' low halves, and the next one their high halves.
// Low halves are signed, so a high half is one more where the low one is negative. After an odd
// step, `to` has zeros.
inline void pack_halves(gemm::Matrix<const uint32_t> from, int64_t rows, int64_t k, int height,
                        uint32_t* to) {
  const hn::ScalableTag<uint32_t> d;
  pack(from, rows, k, height, to);
  const auto low = hn::Set(d, 0xffff), half = hn::Set(d, 0x8000);
  for (int64_t x = 0; x < k; x += 2, to += 2 * height) {
    for (int i = 0; i < height; i += static_cast<int>(hn::Lanes(d))) {
      const auto mask = hn::FirstN(d, static_cast<size_t>(height - i));
      const auto first = load_lanes(d, mask, to + i), second = load_lanes(d, mask, to + height + i);
      const auto lows = hn::Or(hn::And(first, low), hn::ShiftLeft<16>(second));
      const auto highs =
          hn::Or(hn::ShiftRight<16>(hn::Add(first, half)), hn::AndNot(low, hn::Add(second, half)));
      store_lanes(d, mask, lows, to + i);
      store_lanes(d, mask, highs, to + height + i);
    }
  }
}

// A vector of results, the columns from j0 on of a C of one row, where B is contiguous along k. B's
// tiles go from the registers into the chains without being packed.
template <class T>
void multiply_across(const gemm::Problem<T>& p, int64_t j0) {
  const hn::ScalableTag<T> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  const int64_t columns = HWY_MIN(int64_t{kLanes}, p.n - j0);
  T chains[kLanes] = {};
  begin_row(p, 0, j0, columns, chains);
  auto acc = hn::LoadU(d, chains);
  for (int64_t k = 0; k < p.k; k += kLanes) {
    const int64_t depth = HWY_MIN(int64_t{kLanes}, p.k - k);
    hn::Vec<decltype(d)> tile[kLanes];
    load_turned(d, {p.b.at(k, j0), p.b.col_stride, 1}, columns, depth, tile);
#pragma GCC unroll 16
    for (int r = 0; r < kLanes; ++r)
      if (r < depth) acc = step(d, hn::Set(d, *p.a.at(0, k + r)), tile[r], acc);
  }
  hn::StoreU(acc, d, chains);
  finish_row(p, 0, j0, columns, chains);
}

// Continues the chains of a C of one row by kRows steps from k on, where B's rows have unit stride.
template <int kRows, class T>
void add_rows(const gemm::Problem<T>& p, int64_t k, int64_t j0, int64_t columns, T* chains) {
  const hn::ScalableTag<T> d;
  const int64_t ahead = k + 2 * kRows <= p.k ? kRows * p.b.row_stride : 0;
  hn::Vec<decltype(d)> a[kRows];
  for (int r = 0; r < kRows; ++r) a[r] = hn::Set(d, *p.a.at(0, k + r));
  const T* const b = p.b.at(k, j0);
  for (int64_t j = 0; j < columns; j += static_cast<int64_t>(hn::Lanes(d))) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(columns - j));
    auto acc = load_lanes(d, mask, chains + j);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const T* const from = b + r * p.b.row_stride + j;
      __builtin_prefetch(from + ahead, 0, 2);
      acc = step(d, a[r], load_lanes(d, mask, from), acc);
    }
    store_lanes(d, mask, acc, chains + j);
  }
}

// The columns from j0 on of a C of one row, where B's rows have unit stride. The chains stay in the
// first cache, and four rows of B are prefetched into the second while the four before them are
// added.
template <class T>
void multiply_along(const gemm::Problem<T>& p, int64_t j0, int64_t columns, T* chains) {
  constexpr int kRows = 4;
  begin_row(p, 0, j0, columns, chains);
  int64_t k = 0;
  for (; k + kRows <= p.k; k += kRows) add_rows<kRows>(p, k, j0, columns, chains);
  for (; k < p.k; ++k) add_rows<1>(p, k, j0, columns, chains);
  finish_row(p, 0, j0, columns, chains);
}

#if HWY_TARGET != HWY_SCALAR
// Computes `count` of a batch's products of 4 x 4 words without gaps. A block of 128 bits is a row,
// so a step takes an element of each row of A within its block, and a row of B in every block. `a`,
// `b` and `c` are the distances of neighbouring operands; operands are prefetched `far` products
// ahead.
template <class T>
void multiply_fours(gemm::Problem<T> p, int64_t a, int64_t b, int64_t c, int64_t count,
                    int64_t far) {
  const hn::CappedTag<T, 16> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto all = hn::FirstN(d, hn::Lanes(d));
  for (; count > 0; --count, p.a.data += a, p.b.data += b, p.c.data += c) {
    __builtin_prefetch(p.a.data + far * a);
    __builtin_prefetch(p.b.data + far * b);
    __builtin_prefetch(p.c.data + far * c);
    for (int64_t x = 0; x < 16; x += lanes) {
      const auto rows = hn::LoadU(d, p.a.data + x);
      auto acc = p.continues ? hn::LoadU(d, p.c.data + x) : hn::Zero(d);
      acc = step(d, hn::Broadcast<0>(rows), hn::LoadDup128(d, p.b.data), acc);
      acc = step(d, hn::Broadcast<1>(rows), hn::LoadDup128(d, p.b.data + 4), acc);
      acc = step(d, hn::Broadcast<2>(rows), hn::LoadDup128(d, p.b.data + 8), acc);
      acc = step(d, hn::Broadcast<3>(rows), hn::LoadDup128(d, p.b.data + 12), acc);
      hn::StoreU(finish(d, p, acc, all, p.c.data + x), d, p.c.data + x);
    }
  }
}
#endif

// A C of one element. A step takes the latency of one multiply-add if memory is prefetched early
// enough: 4 KiB ahead.
template <class T>
void multiply_one(const gemm::Problem<T>& p) {
  constexpr int64_t kAhead = 4096 / sizeof(T);
  T acc = p.begin(0, 0);
  int64_t k = 0;
  for (; hwy::IsFloat<T>() && k + kAhead < p.k; ++k) {  // an integer's step waits for one addition
    hwy::Prefetch(p.a.at(0, k + kAhead));
    hwy::Prefetch(p.b.at(k + kAhead, 0));
    acc = step(*p.a.at(0, k), *p.b.at(k, 0), acc);
  }
  for (; k < p.k; ++k) acc = step(*p.a.at(0, k), *p.b.at(k, 0), acc);
  finish(p, acc, p.c.data);
}

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
