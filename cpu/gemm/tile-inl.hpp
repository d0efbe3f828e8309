// The register tile: kRows x kVectors accumulators, all of k in one chain of fused steps each.
//
//            b  |v0|v1|      per k: load kVectors of B, broadcast kRows of A,
//       a  r0   |..|..|      kRows * kVectors independent fma; the tile is wide enough to hide
//          r1   |..|..|      fma's latency and needs few loads per fma.
//
// i32 from panels of halves (pack-inl.hpp): x y = xl yl + (xh yl + xl yh) 2^16 modulo 2^32. An instruction adds the
// products of two pairs of halves, so three do two steps, where whole words take three for each.
#include "gemm/kernels.hpp"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {

// acc + x y, of floats; of AVX-512 in acc's register: by itself g++ spreads a chain over several, so that it spills 4
// of 28 in four steps.
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

// acc + xl yl + xh yh of each word's halves, which are signed, modulo 2^32. Of AVX-512 VNNI, which is no target of its own.
template <class V>
HWY_INLINE V add_products_of_halves(V x, V y, V acc) {
#if HWY_TARGET <= HWY_AVX3
  asm("vpdpwssd %2, %1, %0" : "+v"(acc.raw) : "v"(x.raw), "v"(y.raw));
#endif
  return acc;
}

// Where A and B are read. Whole vectors of B need no masks: 64^3 of f32 takes 2.65 us instead of 2.80, but a tile with
// both loops 2.90.
enum class From { kPlace, kWholePlace, kPanels, kHalves };

template <int kRows, int kVectors, From kFrom, class T>
void compute_tile(const gemm::Tile<T>& tile) {
  constexpr bool kPacked = kFrom >= From::kPanels, kWhole = kFrom != From::kPlace,
                 kHalves = kFrom == From::kHalves;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  using M = hn::Mask<decltype(d)>;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  M mask[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    mask[v] = hn::FirstN(d, static_cast<size_t>(HWY_MAX(0, tile.cols - v * kLanes)));
  }

  V acc[kRows][kVectors], cross[kRows][kVectors];  // of halves: what is added 2^16 times
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      acc[r][v] = cross[r][v] = hn::Zero(d);
      if (tile.from != nullptr && (kPacked ? r < tile.rows : r >= tile.skip)) {
        acc[r][v] = load_lanes(d, mask[v], tile.from + r * tile.from_stride + v * kLanes);
      }
    }
  }

  const int64_t b_step = kPacked ? kVectors * kLanes : tile.b_step;
  // Four steps of panels at a time: counting takes instructions on the multiply-adds' ports (k = 512, A and B from
  // the second cache, of the peak: 0.959 -> 0.968). Integers, and fewer registers than AVX-512's, would spill.
  constexpr bool kFour = kPacked && HWY_TARGET <= HWY_AVX3 && hwy::IsFloat<T>();
  constexpr int kSteps = kHalves ? 2 : 1, kUnrolled = kFour ? gemm::kPanelSteps : 1;
  const int64_t turns = tile.k / (kSteps * kUnrolled);
  const T* HWY_RESTRICT a = tile.a;
  const T* HWY_RESTRICT b = tile.b;
  [[maybe_unused]] const char* soon = reinterpret_cast<const char*>(tile.soon);
  [[maybe_unused]] const int64_t soon_step = tile.lines * 64 / HWY_MAX(turns, 1);
  const auto run = [&](int64_t count) HWY_ATTR {
    // Rows of A where it lies: seven of each of two bases, by three strides in bytes. gcc would keep an offset for each,
    // most of them on the stack: 64^3 of f32 2.65 us, so 2.3.
    int64_t one_row = tile.a_row * int64_t{sizeof(T)}, three = 3 * one_row, five = 5 * one_row;
    const int64_t a_step = tile.a_step * int64_t{sizeof(T)};
    [[maybe_unused]] const char *seven = reinterpret_cast<const char*>(a),
                                *more = seven + 7 * one_row;
    for (; count > 0; --count) {
      if constexpr (kPacked) {
        // Of the next panel of B: a line, or several where a chunk has few tiles (28 and 56 rows, n = k = 2048, 2 cores of a
        // Xeon, of the rate with one, best quarters: f64 1.01 to 1.09, f32 alike).
        const char* line = soon;
        soon += soon_step;
        do {
          __builtin_prefetch(line, 0, 2);
          line += 64;
        } while (line < soon);
      }
#pragma GCC unroll 4
      for (int u = 0; u < kUnrolled; ++u) {
        const T *const a_u = a + u * kSteps * kRows, *const b_u = b + u * kSteps * b_step;
        // A's panels are read once per panel of B, across pages, where the hardware's prefetch stops:
        // 0.90 -> 0.94 of OpenBLAS at 2048 (B too: no further gain; C's lines ahead: none).
        if constexpr (kPacked) hwy::Prefetch(a_u + 16 * kRows);
        // Integers' multiplications leave time for calls in any tile. With calls past B's end i32 64^3 has 0.94 in the caches.
        if constexpr (kFrom == From::kPlace || (!kPacked && !hwy::IsFloat<T>())) {
          const T* const then = b_u + tile.ahead < tile.end ? b_u + tile.ahead : b_u;
          for (int v = 0; v < kVectors; ++v) hwy::Prefetch(then + v * kLanes);
        }
        if constexpr (!kPacked) asm("" : "+r"(one_row), "+r"(three), "+r"(five));
        V row[kVectors], high[kVectors];
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
          row[v] = kPacked  ? hn::Load(d, b_u + v * kLanes)
                   : kWhole ? hn::LoadU(d, b_u + v * kLanes)
                            : load_lanes(d, mask[v], b_u + v * kLanes);
          if constexpr (kHalves) high[v] = hn::Load(d, b_u + b_step + v * kLanes);
        }
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
          const char* const base = r < 7 ? seven : more;
          const char* const at = r % 7 == 3   ? base + three
                                 : r % 7 == 5 ? base + five
                                 : r % 7 == 6 ? base + 2 * three
                                              : base + r % 7 * one_row;
          const V one = hn::Set(d, kPacked ? a_u[r] : *reinterpret_cast<const T*>(at));
          if constexpr (kHalves) {
            const V high_one = hn::Set(d, a_u[kRows + r]);
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
              acc[r][v] = add_products_of_halves(one, row[v], acc[r][v]);
              cross[r][v] = add_products_of_halves(one, high[v], cross[r][v]);
              cross[r][v] = add_products_of_halves(high_one, row[v], cross[r][v]);
            }
          } else {
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
              if constexpr (kFour) {
                acc[r][v] = add_product(one, row[v], acc[r][v]);
              } else {
                acc[r][v] = step(d, one, row[v], acc[r][v]);
              }
            }
          }
        }
      }
      if constexpr (kPacked) {
        a += kRows * kSteps * kUnrolled;
      } else {
        seven += a_step, more += a_step;
      }
      b += b_step * kSteps * kUnrolled;
    }
  };
  if constexpr (kPacked) {
    // Called for little by little, lest all at once hold the buffers of A's and B's lines: the next tile's lines of
    // C, as above some of B. To the second cache: rows apart by a power of two would drive each other from the first.
    // 2 cores of a Xeon, 4096: 400 -> 374 ms; C's alone: 388. Of a vector that crosses lines, the second is called
    // for: the first is the left neighbour's last (1023 columns, of 1024's rate: 0.94 -> 0.98).
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v)
        __builtin_prefetch(tile.next + r * tile.to_stride + (v + 1) * kLanes - 1, 0, 2);
      run(turns * (r + 1) / kRows - turns * r / kRows);
    }
  } else {
    run(turns);
  }

  if (kFrom == From::kWholePlace && tile.last && !tile.reads_c && tile.skip == 0) {
    // Without a branch for each row and vector: 64^3 of f32 2.55 us, so 2.4.
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v)
        hn::StoreU(scale(d, tile.alpha, acc[r][v]), d, tile.to + r * tile.to_stride + v * kLanes);
    }
    return;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    if (kPacked && r >= tile.rows) break;
    if (!kPacked && r < tile.skip) continue;
    T* to = tile.to + r * tile.to_stride;
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      V value = acc[r][v];
      if constexpr (kHalves) value = hn::Add(value, hn::ShiftLeft<16>(cross[r][v]));
      if (tile.last) value = finish(d, tile, value, mask[v], to + v * kLanes);
      store_lanes(d, mask[v], value, to + v * kLanes);
    }
  }
}

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
