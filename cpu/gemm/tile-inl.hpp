// The register tile: kRows x kVectors accumulators, all of k in one chain of fused steps each.
//
//            b  |v0|v1|      per k: load kVectors of B, broadcast kRows of A,
//       a  r0   |..|..|      kRows * kVectors independent fma; the tile is wide enough to hide
//          r1   |..|..|      fma's latency and needs few loads per fma.
//
// i32 from panels of halves (pack-inl.hpp): x y = xl yl + (xh yl + xl yh) 2^16 modulo 2^32. An
// instruction adds the products of two pairs of halves, so three do two steps, where whole words
// take three for each.
#include "gemm/kernels.hpp"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {

// acc + x y, of floats; with AVX-512 in acc's register: by itself g++ spreads a chain over several,
// so that it spills 4 of 28 in four steps.
template <class V>
HWY_INLINE V add_product(V x, V y, V acc) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(hn::TFromV<V>) == 4) {
    asm("vfmadd231ps %2, %1, %0" : "+v"(acc.raw) : "v"(x.raw), "v"(y.raw));
  } else {
    asm("vfmadd231pd %2, %1, %0" : "+v"(acc.raw) : "v"(x.raw), "v"(y.raw));
  }
  return acc;
#else
  return step(hn::DFromV<V>(), x, y, acc);
#endif
}

// acc + xl yl + xh yh of each word's halves, which are signed, modulo 2^32. It is an instruction of
// AVX-512 VNNI, which is no target of its own.
template <class V>
HWY_INLINE V add_products_of_halves(V x, V y, V acc) {
#if HWY_TARGET <= HWY_AVX3
  asm("vpdpwssd %2, %1, %0" : "+v"(acc.raw) : "v"(x.raw), "v"(y.raw));
#endif
  return acc;
}

// Where A and B are read: in place with masks and B prefetched, with a mask for the last vector
// alone, without masks; or from panels, which may be of halves. Whole vectors need no masks, and a
// tile with both loops would be slower than either.
enum class From { kPlace, kLastPart, kWholePlace, kPanels, kHalves };

template <class T, int kVectors>
using Row = hn::Vec<hn::ScalableTag<T>>[kVectors];
template <class T, int kVectors>
using RowMasks = hn::Mask<hn::ScalableTag<T>>[kVectors];

// The lanes of `mask`; the others get `first`, so their chains raise no flags but the first one's.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_or_first(D d, hn::Mask<D> mask, const T* from, const T* first) {
  return hn::IfThenElse(mask, load_lanes(d, mask, from), hn::Set(d, *first));
}

// All of k in place. Rows of A are addressed by two bases and three strides in bytes, seven rows
// from each base: gcc would keep an offset for each row, most of them on the stack.
template <int kRows, int kVectors, From kFrom, class T>
HWY_INLINE void add_in_place(const gemm::Tile<T>& tile, const RowMasks<T, kVectors>& mask,
                             Row<T, kVectors>* acc) {
  const hn::ScalableTag<T> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  int64_t one_row = tile.a_row * int64_t{sizeof(T)}, three = 3 * one_row, five = 5 * one_row;
  const int64_t a_step = tile.a_step * int64_t{sizeof(T)}, b_step = tile.b_step;
  const char *seven = reinterpret_cast<const char*>(tile.a), *more = seven + 7 * one_row;
  const T* HWY_RESTRICT b = tile.b;
  for (int64_t count = tile.k; count > 0; --count) {
    // Integers' multiplications leave time for prefetches in any tile, but none may go past B's
    // end.
    if constexpr (kFrom == From::kPlace || !hwy::IsFloat<T>()) {
      const T* const then = b + tile.ahead < tile.end ? b + tile.ahead : b;
      for (int v = 0; v < kVectors; ++v) hwy::Prefetch(then + v * kLanes);
    }
    asm("" : "+r"(one_row), "+r"(three), "+r"(five));
    Row<T, kVectors> row;
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const T* const from = b + v * kLanes;
      if constexpr (kFrom == From::kPlace) {
        row[v] = load_lanes(d, mask[v], from);
      } else if (kFrom == From::kLastPart && v + 1 == kVectors) {
        row[v] = load_or_first(d, mask[v], from, b);
      } else {
        row[v] = hn::LoadU(d, from);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const char* const base = r < 7 ? seven : more;
      const char* const at = r % 7 == 3   ? base + three
                             : r % 7 == 5 ? base + five
                             : r % 7 == 6 ? base + 2 * three
                                          : base + r % 7 * one_row;
      const auto one = hn::Set(d, *reinterpret_cast<const T*>(at));
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) acc[r][v] = step(d, one, row[v], acc[r][v]);
    }
    seven += a_step, more += a_step;
    b += b_step;
  }
}

// `count` turns of several steps from panels. `a`, `b` and `soon` are the next elements of the
// panels, and the next line to prefetch. `cross`: of halves, the sums that count 2^16 times.
template <int kRows, int kVectors, int kUnrolled, bool kHalves, class T>
HWY_INLINE void add_panels(int64_t count, const T*& a, const T*& b, const char*& soon,
                           int64_t soon_step, Row<T, kVectors>* acc, Row<T, kVectors>* cross) {
  const hn::ScalableTag<T> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d)), kWidth = kVectors * kLanes;
  constexpr int kSteps = kHalves ? 2 : 1;
  for (; count > 0; --count) {
    // Prefetches the next panel of B: a line, or several where a chunk has few tiles.
    const char* line = soon;
    soon += soon_step;
    do {
      __builtin_prefetch(line, 0, 2);
      line += 64;
    } while (line < soon);
#pragma GCC unroll 4
    for (int u = 0; u < kUnrolled; ++u) {
      const T *const a_u = a + u * kSteps * kRows, *const b_u = b + u * kSteps * kWidth;
      // A's panels are read once per panel of B, across pages, where the hardware's prefetch stops.
      hwy::Prefetch(a_u + 16 * kRows);
      Row<T, kVectors> row, high;
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        row[v] = hn::Load(d, b_u + v * kLanes);
        if constexpr (kHalves) high[v] = hn::Load(d, b_u + kWidth + v * kLanes);
      }
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const auto one = hn::Set(d, a_u[r]);
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
          if constexpr (kHalves) {
            acc[r][v] = add_products_of_halves(one, row[v], acc[r][v]);
            cross[r][v] = add_products_of_halves(one, high[v], cross[r][v]);
            const auto high_one = hn::Set(d, a_u[kRows + r]);
            cross[r][v] = add_products_of_halves(high_one, row[v], cross[r][v]);
          } else if constexpr (kUnrolled > 1) {
            acc[r][v] = add_product(one, row[v], acc[r][v]);
          } else {
            acc[r][v] = step(d, one, row[v], acc[r][v]);
          }
        }
      }
    }
    a += kRows * kSteps * kUnrolled;
    b += kWidth * kSteps * kUnrolled;
  }
}

// All of k from panels. Meanwhile the next tile's lines of C are prefetched, a few at a time,
// because all at once would occupy the buffers that A's and B's lines need. They go to the second
// cache, because rows whose distance is a power of two would evict each other from the first. Where
// a vector crosses lines, the second is prefetched: the first is the last one of the tile on the
// left.
template <int kRows, int kVectors, bool kHalves, class T>
HWY_INLINE void add_all_panels(const gemm::Tile<T>& tile, Row<T, kVectors>* acc,
                               Row<T, kVectors>* cross) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));
  // Four steps at a time, because counting takes instructions on the multiply-adds' ports. Integers
  // would spill registers by it, and so would targets with fewer registers than AVX-512.
  constexpr bool kFour = HWY_TARGET <= HWY_AVX3 && hwy::IsFloat<T>();
  constexpr int kUnrolled = kFour ? gemm::kPanelSteps : 1;
  const int64_t turns = tile.k / ((kHalves ? 2 : 1) * kUnrolled);
  const int64_t soon_step = tile.lines * 64 / HWY_MAX(turns, 1);
  const T *a = tile.a, *b = tile.b;
  const char* soon = reinterpret_cast<const char*>(tile.soon);
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v)
      __builtin_prefetch(tile.next + r * tile.to_stride + (v + 1) * kLanes - 1, 0, 2);
    const int64_t count = turns * (r + 1) / kRows - turns * r / kRows;
    add_panels<kRows, kVectors, kUnrolled, kHalves>(count, a, b, soon, soon_step, acc, cross);
  }
}

// All rows of a tile in place with all of k, without a branch for each row and vector.
template <int kRows, int kVectors, From kFrom, bool kReadsC, class T>
HWY_INLINE void finish_tile(const gemm::Tile<T>& tile, const RowMasks<T, kVectors>& mask,
                            const Row<T, kVectors>* acc) {
  const hn::ScalableTag<T> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    T* const first = tile.to + r * tile.to_stride;
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      T* const to = first + v * kLanes;
      const bool is_whole = kFrom == From::kWholePlace || v + 1 < kVectors;
      auto t = scale(d, tile.alpha, acc[r][v]);
      if constexpr (kReadsC) {
        const auto c = is_whole ? hn::LoadU(d, to) : load_or_first(d, mask[v], to, first);
        t = step(d, hn::Set(d, tile.beta), c, t);
      }
      is_whole ? hn::StoreU(t, d, to) : store_lanes(d, mask[v], t, to);
    }
  }
}

// A tile in place with all of k: chains begin at +0, and end in C.
template <int kRows, int kVectors, From kFrom, class T>
void compute_at_once(const gemm::Tile<T>& tile) {
  const hn::ScalableTag<T> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  RowMasks<T, kVectors> mask;
  mask[kVectors - 1] = hn::FirstN(d, static_cast<size_t>(tile.cols - (kVectors - 1) * kLanes));
  // C is prefetched while the chains run.
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) hwy::Prefetch(tile.to + r * tile.to_stride + v * kLanes);
  Row<T, kVectors> acc[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) acc[r][v] = hn::Zero(d);
  add_in_place<kRows, kVectors, kFrom>(tile, mask, acc);
  if (tile.reads_c)
    finish_tile<kRows, kVectors, kFrom, true>(tile, mask, acc);
  else
    finish_tile<kRows, kVectors, kFrom, false>(tile, mask, acc);
}

template <int kRows, int kVectors, From kFrom, class T>
void compute_tile(const gemm::Tile<T>& tile) {
  constexpr bool kPacked = kFrom >= From::kPanels, kHalves = kFrom == From::kHalves;
  const hn::ScalableTag<T> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  RowMasks<T, kVectors> mask;
  for (int v = 0; v < kVectors; ++v)
    mask[v] = hn::FirstN(d, static_cast<size_t>(HWY_MAX(0, tile.cols - v * kLanes)));

  Row<T, kVectors> acc[kRows], cross[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      acc[r][v] = cross[r][v] = hn::Zero(d);
      if (tile.from != nullptr && (kPacked ? r < tile.rows : r >= tile.skip))
        acc[r][v] = load_lanes(d, mask[v], tile.from + r * tile.from_stride + v * kLanes);
    }
  }
  if constexpr (kPacked)
    add_all_panels<kRows, kVectors, kHalves>(tile, acc, cross);
  else
    add_in_place<kRows, kVectors, kFrom>(tile, mask, acc);

  if (kPacked && tile.plus != nullptr) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      if (r >= tile.rows) break;
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        const T* const plus = tile.plus + r * tile.from_stride + v * kLanes;
        acc[r][v] = hn::Add(acc[r][v], load_lanes(d, mask[v], plus));
      }
    }
  }
  if (kFrom == From::kWholePlace && tile.last && !tile.reads_c && tile.skip == 0)
    return finish_tile<kRows, kVectors, kFrom, false>(tile, mask, acc);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    if (kPacked && r >= tile.rows) break;
    if (!kPacked && r < tile.skip) continue;
    T* to = tile.to + r * tile.to_stride;
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      auto value = acc[r][v];
      if constexpr (kHalves) value = hn::Add(value, hn::ShiftLeft<16>(cross[r][v]));
      if (tile.last) value = finish(d, tile, value, mask[v], to + v * kLanes);
      store_lanes(d, mask[v], value, to + v * kLanes);
    }
  }
}

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
