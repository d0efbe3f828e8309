// Transposes one block of a matrix, tile by tile in registers; edges by smaller tiles, the rest by
// element.
//
//   input  p, rows contiguous along q      output  q, rows contiguous along p
//        q0 .. q0+N                              p0 .. p0+N
//   p0   a b c d                            q0   a e i m
//        e f g h      one vector a row           b f j n
#include "transpose/problem.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {

using transpose::Block;

constexpr int64_t kLine = 64;  // of a cache

constexpr int64_t kVectorBytes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<uint8_t>()));

// A range of a block, in elements.
struct Range {
  int64_t p0, p1, q0, q1;
};

#if HWY_TARGET != HWY_SCALAR

// A square tile of vectors of kBytes.
template <int kSize, int kBytes, bool kStream>
HWY_INLINE void move_tile(const char* HWY_RESTRICT from, int64_t in_step, char* HWY_RESTRICT to,
                          int64_t out_step, int64_t ahead) {
  using T = hwy::UnsignedFromSize<HWY_MIN(kSize, 8)>;
  const hn::FixedTag<T, kBytes / sizeof(T)> d;
  const auto load = [&](int64_t i) HWY_ATTR {
    hwy::Prefetch(from + i * in_step + ahead);
    return hn::LoadU(d, reinterpret_cast<const T*>(from + i * in_step));
  };
  transpose_tile<kSize>(d, load, [&](int64_t i, auto row) HWY_ATTR {
    T* const line = reinterpret_cast<T*>(to + i * out_step);
    if constexpr (kStream) {
      hn::Stream(row, d, line);
    } else {
      hn::StoreU(row, d, line);
    }
  });
}

// Covers a range with tiles, p innermost; its extents are multiples of a tile's.
template <int kSize, int kBytes, bool kStream>
HWY_INLINE void move_tiles(const Block& b, const Range& r) {
  constexpr int64_t kCount = kBytes / kSize;
  for (int64_t q = r.q0; q < r.q1; q += kCount) {
    for (int64_t p = r.p0; p < r.p1; p += kCount) {
      move_tile<kSize, kBytes, kStream>(b.in + p * b.in_step + q * kSize, b.in_step,
                                        b.out + q * b.out_step + p * kSize, b.out_step, b.ahead);
    }
  }
}

#endif

// Moves a range of any extents, without streaming: by tiles, and what is left by smaller and
// smaller ones.
template <int kSize, int kBytes>
void move_range(const Block& b, const Range& r) {
  if (r.p0 >= r.p1 || r.q0 >= r.q1) return;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kBytes >= 2 * kSize && kBytes >= 8) {
    constexpr int64_t kCount = kBytes / kSize;
    constexpr int kNext = kBytes > 16 ? 16 : kBytes / 2;
    const int64_t p = r.p0 + (r.p1 - r.p0) / kCount * kCount;
    const int64_t q = r.q0 + (r.q1 - r.q0) / kCount * kCount;
    move_tiles<kSize, kBytes, false>(b, {r.p0, p, r.q0, q});
    move_range<kSize, kNext>(b, {p, r.p1, r.q0, q});
    move_range<kSize, kNext>(b, {r.p0, r.p1, q, r.q1});
    return;
  }
#endif
  for (int64_t q = r.q0; q < r.q1; ++q) {
    const char* from = b.in + q * kSize;
    char* to = b.out + q * b.out_step;
    for (int64_t p = r.p0; p < r.p1; ++p) {
      transpose::move_element<kSize>(to + p * kSize, from + p * b.in_step);
    }
  }
}

template <int kSize>
void transpose_block(const Block& b) {
  if (move_narrow<kSize, false>(b)) return;
  // 64 rows of single bytes would not fit into the registers, and would share few sets of the first
  // cache. Elements of two bytes would lose by smaller tiles.
  constexpr int64_t kTileBytes = kSize == 1 ? HWY_MIN(32, kVectorBytes) : kVectorBytes;
  move_range<kSize, kTileBytes>(b, {0, b.p, 0, b.q});
}

HWY_INLINE void copy_bytes(char* to, const char* from, int64_t bytes, bool stream) {
  const hn::ScalableTag<uint8_t> d;
  const int64_t head =
      static_cast<int64_t>((0 - reinterpret_cast<uintptr_t>(to)) % uintptr_t{kVectorBytes});
  if (!stream || bytes < head + kVectorBytes) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  if (head > 0) std::memcpy(to, from, static_cast<size_t>(head));
  int64_t x = head;
  for (; x + kVectorBytes <= bytes; x += kVectorBytes) {
    hn::Stream(hn::LoadU(d, reinterpret_cast<const uint8_t*>(from + x)), d,
               reinterpret_cast<uint8_t*>(to + x));
  }
  if (x < bytes) std::memcpy(to + x, from + x, static_cast<size_t>(bytes - x));
}

// Moves a narrow block straight to a few aligned rows if a vector is a line. Else it is transposed
// into a buffer in the first cache and streamed from there line by line, as one run if its rows are
// packed.
template <int kSize>
void transpose_block_buffered(const Block& b) {
  if constexpr (kVectorBytes == kLine) {
    const bool aligned = (reinterpret_cast<uintptr_t>(b.out) | uint64_t(b.out_step)) % kLine == 0;
    if (aligned && b.q < b.p && move_narrow<kSize, true>(b)) return;
  }
  alignas(64) char buffer[transpose::kBufferBytes];
  Block inner = b;
  inner.out = buffer;
  inner.out_step = b.p * kSize;
  transpose_block<kSize>(inner);
  const bool packed = b.out_step == inner.out_step;  // one run
  const int64_t rows = packed ? 1 : b.q;
  const int64_t bytes = packed ? b.q * inner.out_step : inner.out_step;
  for (int64_t q = 0; q < rows; ++q) {
    copy_bytes(b.out + q * b.out_step, buffer + q * inner.out_step, bytes, true);
  }
}

#if HWY_TARGET != HWY_SCALAR

// Streams a strip whose output rows all begin at the same place within a line, by vectors that are
// whole lines.
template <int kSize>
HWY_INLINE void move_aligned_strip(const Block& b) {
  constexpr int64_t kSide = kLine / kSize;
  const auto over = static_cast<int64_t>(reinterpret_cast<uintptr_t>(b.out) % kLine) / kSize;
  const int64_t p0 = HWY_MIN(b.p, (kSide - over) % kSide), end = b.is_last ? b.p : b.p + p0;
  const int64_t p1 = p0 + (end - p0) / kSide * kSide, q1 = b.q / kSide * kSide;
  move_tiles<kSize, kLine, true>(b, {p0, p1, 0, q1});
  if (b.is_first) move_range<kSize, 16>(b, {0, p0, 0, q1});
  move_range<kSize, 16>(b, {p1, end, 0, q1});
  move_range<kSize, 16>(b, {b.is_first ? 0 : p0, end, q1, b.q});
}

// The 64 bytes that begin `by` bytes before the second of two neighbouring lines.
template <int kSize, class D, class V = hn::Vec<D>>
HWY_INLINE V straddle(D bytes, V first, V second, int64_t by) {
#if HWY_TARGET <= HWY_AVX3_DL
  alignas(64) static constexpr auto kLanes = [] {
    std::array<uint8_t, 2 * kLine> lanes{};
    std::iota(lanes.begin(), lanes.end(), uint8_t{0});
    return lanes;
  }();
  const V lanes = hn::LoadU(bytes, kLanes.data() + kLine - by);
  return V{_mm512_permutex2var_epi8(first.raw, lanes.raw, second.raw)};
#else
  alignas(64) static constexpr int32_t kLanes[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10,
                                                     11, 12, 13, 14, 15, 0,  1,  2,  3,  4, 5,
                                                     6,  7,  8,  9,  10, 11, 12, 13, 14, 15};
  const hn::Repartition<uint32_t, D> words;
  const auto both = hn::BitCast(
      words, hn::IfThenElse(hn::FirstN(bytes, static_cast<size_t>(kLine - by)), second, first));
  const auto turned = [&](int64_t count) HWY_ATTR {
    return hn::TableLookupLanes(both,
                                hn::SetTableIndices(words, kLanes + (kLine - count) / 4 % 16));
  };
  if constexpr (kSize >= 4) return hn::BitCast(bytes, turned(by));
  const auto bits = hn::Set(words, static_cast<uint32_t>(by % 4 * 8));
  return hn::BitCast(bytes, hn::Or(hn::Shl(turned(by / 4 * 4), bits),
                                   hn::Shr(hn::ShiftRight<1>(turned(by / 4 * 4 + 4)),
                                           hn::Sub(hn::Set(words, 31), bits))));
#endif
}

// A tile of a strip in which rows begin or end. Rows without a gap between them share lines: the
// beginning of such a row is kept, too, and is written with the end of the row before.
struct Edge {
  bool begins;
  bool follows;  // on the row before, in the same strip
  int64_t left;  // rows of the strip from here on, if each follows on the one before; else 0
};

// Moves a square tile and writes whole lines: each consists of the elements that the tile before
// has kept, and of the first ones of this tile.
template <int kSize, bool kEdge>
HWY_INLINE void move_sheared_tile(const Block& b, char (*HWY_RESTRICT kept)[kLine],
                                  char (*HWY_RESTRICT heads)[kLine], const Edge& edge) {
  using T = hwy::UnsignedFromSize<HWY_MIN(kSize, 8)>;
  const hn::ScalableTag<T> d;
  const hn::Repartition<uint8_t, decltype(d)> bytes;
  const auto load = [&](int64_t i) HWY_ATTR {
    const char* const from = b.in + (kEdge ? HWY_MIN(i, b.p - 1) : i) * b.in_step;
    if (kSize > 2) hwy::Prefetch(from + b.ahead);  // 2 bytes would lose by it
    return hn::LoadU(d, reinterpret_cast<const T*>(from));
  };
  transpose_tile<kSize>(d, load, [&](int64_t i, auto row) HWY_ATTR {
    char* const to = b.out + i * b.out_step;
    const auto over = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLine);
    const auto first = [&](int64_t count)
                           HWY_ATTR { return hn::FirstN(bytes, static_cast<size_t>(count)); };
    const auto turned = [&](auto v, int64_t by)
                            HWY_ATTR { return straddle<kSize>(bytes, v, v, by); };
    auto* const line = reinterpret_cast<uint8_t*>(to - over);
    auto* const keep = reinterpret_cast<uint8_t*>(kept[i]);
    auto* const head = reinterpret_cast<uint8_t*>(heads[i]);
    const auto fresh = hn::BitCast(bytes, row);
    const auto whole = straddle<kSize>(bytes, hn::Load(bytes, keep), fresh, over);
    if constexpr (!kEdge) {
      hn::Stream(whole, bytes, line);
    } else if (edge.begins) {
      if (edge.left > 0) hn::Store(fresh, bytes, head);
      if (b.is_first && over == 0) {
        hn::Stream(fresh, bytes, line);
      } else if (b.is_first && !(edge.left > 0 && (i > 0 || edge.follows))) {
        hn::BlendedStore(turned(fresh, over), hn::Not(first(over)), bytes, line);
      }
    } else {
      const int64_t end = over + b.p * kSize;
      const auto put = [&](auto v, int64_t count, uint8_t* at) HWY_ATTR {
        if (count >= kLine) {
          hn::Stream(v, bytes, at);
        } else if (i + 1 < edge.left) {
          hn::Stream(hn::IfThenElse(first(count), v, turned(hn::Load(bytes, head + kLine), count)),
                     bytes, at);
        } else {
          hn::BlendedStore(v, first(count), bytes, at);
        }
      };
      put(whole, end, line);
      if (end > kLine) put(turned(fresh, over), end - kLine, line + kLine);
    }
    hn::Store(fresh, bytes, keep);
  });
}

#endif

// Prefetches some of the kSide rows from p on, the strip's part of them. The tiles of a strip share
// these rows; this is the share of the tile at `index`.
template <int kSize>
HWY_INLINE void prefetch_rows(const Block& b, int64_t p, int64_t end, int64_t index) {
  constexpr int64_t kSide = kLine / kSize;
  const int64_t tiles = (b.q + kSide - 1) / kSide, tile = index / kSide;
  for (int64_t i = kSide * tile / tiles; i < kSide * (tile + 1) / tiles && p + i < end; ++i)
    for (int64_t x = 0; x < b.q * kSize + kLine - 1; x += kLine)
      __builtin_prefetch(b.in + (p + i) * b.in_step + x, 0, 2);
}

// Streams a strip of output rows, a line of every row at a time. Each line is written at once,
// because lines that wait half full for the rest cost AVX2 half of the rate. Where rows begin at
// different places within a line, the elements of a row beyond its last whole line are kept for the
// next time:
//
//   row of the window    | kept line | new line |
//   goes out                  |-- a line --|
//                                          |-kept-|
template <int kSize>
void transpose_strip(const Block& b) {
  constexpr int64_t kSide = kLine / kSize;
#if HWY_TARGET != HWY_SCALAR
  constexpr bool kWhole = kVectorBytes == kLine;
  if constexpr (kWhole) {
    if (b.out_step % kLine == 0 && reinterpret_cast<uintptr_t>(b.out) % kSize == 0) {
      return move_aligned_strip<kSize>(b);
    }
  }
#endif
  alignas(64) char window[kSide][2 * kLine];
  const int64_t end =
      b.is_last ? b.p : b.p + kSide;  // a line that begins in a strip is written by it
  const int64_t rows = HWY_MIN(kSide, b.q);
  [[maybe_unused]] const bool packed = b.is_first && b.is_last && b.out_step == b.p * kSize;
  for (int64_t p = 0; p < end; p += kSide) {
    const int64_t count = HWY_MIN(kSide, end - p);
    const bool first = p == 0, last = b.is_last && p + count == end;
    for (int64_t index = 0; index < b.q; index += kSide) {
      const int64_t q = HWY_MIN(index, b.q - rows);  // the last tile's first rows are written twice
      char(*const keep)[kLine] = b.kept + index;
      Block tile = b;
      tile.in += p * b.in_step + q * kSize;
      tile.out += q * b.out_step + p * kSize;
#if HWY_TARGET != HWY_SCALAR
      if constexpr (kWhole) {
        if (rows == kSide && end > kSide) {
          if (b.prefetches) prefetch_rows<kSize>(b, p + kSide, end, index);
          tile.p = count;
          const Edge edge{first, q > 0, packed ? b.q - q : 0};
          char(*const heads)[kLine] = b.kept + transpose::kStripRows + q;
          if (first || last) {
            move_sheared_tile<kSize, true>(tile, keep, heads, edge);
          } else {
            move_sheared_tile<kSize, false>(tile, keep, heads, edge);
          }
          continue;
        }
      }
#endif
      tile.out = window[0] + kLine;
      tile.out_step = 2 * kLine;
      tile.p = count;
      tile.q = rows;
      transpose_block<kSize>(tile);
      for (int64_t i = 0; i < rows; ++i) {
        char* const fresh = window[i] + kLine;
        char* const to = b.out + (q + i) * b.out_step + p * kSize;
        const auto over = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLine);
        std::memcpy(window[i], keep[i], kLine);
        const int64_t from = first ? 0 : -over, until = last ? count * kSize : kLine - over;
        if (!first || b.is_first) copy_bytes(to + from, fresh + from, until - from, true);
        std::memcpy(keep[i], fresh, kLine);
      }
    }
  }
}

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
