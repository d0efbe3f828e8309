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
  constexpr int kCount = kBytes / kSize;
  hn::Vec<decltype(d)> rows[kCount];
#pragma GCC unroll 64
  for (int i = 0; i < kCount; ++i) {
    hwy::Prefetch(from + i * in_step + ahead);
    rows[i] = hn::LoadU(d, reinterpret_cast<const T*>(from + i * in_step));
  }
  transpose_registers<kSize>(d, rows);
#pragma GCC unroll 64
  for (int i = 0; i < kCount; ++i) {
    T* const line = reinterpret_cast<T*>(to + i * out_step);
    if constexpr (kStream) {
      hn::Stream(rows[i], d, line);
    } else {
      hn::StoreU(rows[i], d, line);
    }
  }
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

// A range of any extents, without streaming: tiles, then ever smaller ones on what is left.
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
  if (move_narrow<kSize>(b)) return;
#if HWY_TARGET != HWY_SCALAR
  // Streaming needs every line aligned; the columns before the first such are an edge.
  constexpr int64_t kCount = kVectorBytes / kSize;
  const auto address = reinterpret_cast<uintptr_t>(b.out);
  if (b.stream && address % kSize == 0 && b.out_step % kVectorBytes == 0) {
    const int64_t p0 = HWY_MIN(b.p, static_cast<int64_t>((0 - address) % kVectorBytes) / kSize);
    const int64_t p1 = p0 + (b.p - p0) / kCount * kCount, q1 = b.q / kCount * kCount;
    move_tiles<kSize, kVectorBytes, true>(b, {p0, p1, 0, q1});
    move_range<kSize, 16>(b, {0, p0, 0, q1});
    move_range<kSize, 16>(b, {p1, b.p, 0, q1});
    move_range<kSize, 16>(b, {0, b.p, q1, b.q});
    return;
  }
#endif
  // 64 rows of single bytes would not fit the registers, and meet in few sets of the first cache: 1024^2
  // 57 -> 43 us. Of two bytes, odd sizes past the caches lose by it: 1.83 -> 2.09 ms.
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

// A narrow block: transposed into the first cache, it goes out line by line, as one run if its rows are packed.
template <int kSize>
void transpose_block_buffered(const Block& b) {
  alignas(64) char buffer[transpose::kBufferBytes];
  Block inner = b;
  inner.out = buffer;
  inner.out_step = b.p * kSize;
  inner.stream = false;
  transpose_block<kSize>(inner);
  const bool packed = b.out_step == inner.out_step;  // one run
  const int64_t rows = packed ? 1 : b.q;
  const int64_t bytes = packed ? b.q * inner.out_step : inner.out_step;
  for (int64_t q = 0; q < rows; ++q) {
    copy_bytes(b.out + q * b.out_step, buffer + q * inner.out_step, bytes, true);
  }
}

// A strip of output rows that lie at different places within their lines, so that no tile can be streamed. It is
// walked along p, two lines at a time. What a row has beyond its last whole line is kept for the next time:
//
//   row of the buffer    | kept line | new lines          |
//   goes out                    |-- whole lines --|
//                                                 |-kept-|
template <int kSize>
void transpose_strip(const Block& b) {
  constexpr int64_t kLine = 64, kNew = 2 * kLine, kRows = 32;
  alignas(64) char kept[transpose::kStripRows][kLine];
  alignas(64) char buffer[kRows][kLine + kNew];
  const int64_t bytes = b.p * kSize;
  for (int64_t begin = 0; begin < bytes; begin += kNew) {
    const int64_t some = HWY_MIN(kNew, bytes - begin);
    const bool is_last = begin + some == bytes;
    for (int64_t q0 = 0; q0 < b.q; q0 += kRows) {
      const int64_t rows = HWY_MIN(kRows, b.q - q0);
      transpose_block<kSize>({b.in + begin / kSize * b.in_step + q0 * kSize, buffer[0] + kLine,
                              b.in_step, kLine + kNew, some / kSize, rows, false, b.ahead});
      for (int64_t q = 0; q < rows; ++q) {
        char* const fresh = buffer[q] + kLine;
        char* const to = b.out + (q0 + q) * b.out_step + begin;
        const auto over = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLine);
        std::memcpy(buffer[q], kept[q0 + q], kLine);
        const int64_t from = begin == 0 ? 0 : -over, end = is_last ? some : some - over;
        copy_bytes(to + from, fresh + from, end - from, true);
        std::memcpy(kept[q0 + q], fresh + kNew - kLine, kLine);
      }
    }
  }
}

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
