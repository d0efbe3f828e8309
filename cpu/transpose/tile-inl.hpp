// Transposes one block of a matrix, tile by tile in registers; edges element by element.
//
//   input  p, rows contiguous along q      output  q, rows contiguous along p
//        q0 .. q0+N                              p0 .. p0+N
//   p0   a b c d                            q0   a e i m
//        e f g h      one vector a row           b f j n
//
// Included once per target.
#include "simd.hpp"
#include "transpose/block.hpp"
#include "transpose/registers-inl.hpp"

#if defined(TRINE_CPU_TRANSPOSE_TILE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRINE_CPU_TRANSPOSE_TILE_INL_HPP
#undef TRINE_CPU_TRANSPOSE_TILE_INL_HPP
#else
#define TRINE_CPU_TRANSPOSE_TILE_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {

using transpose::Block;

constexpr int64_t kVectorBytes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<uint8_t>()));

template <int kSize>
HWY_INLINE void move_edge(const Block& b, int64_t p0, int64_t p1, int64_t q0, int64_t q1) {
  for (int64_t q = q0; q < q1; ++q) {
    const char* from = b.in + q * kSize;
    char* to = b.out + q * b.out_step;
    for (int64_t p = p0; p < p1; ++p) {
      transpose::move_element<kSize>(to + p * kSize, from + p * b.in_step);
    }
  }
}

// Lanes are only carriers; the widest below the element keep shuffles cheap.
template <int kSize>
using Lane = hwy::UnsignedFromSize<HWY_MIN(kSize, 8)>;

template <int kSize, bool kStream>
HWY_INLINE void move_tile(const char* HWY_RESTRICT from, int64_t in_step, char* HWY_RESTRICT to,
                          int64_t out_step) {
  using T = Lane<kSize>;
  const hn::ScalableTag<T> d;
  constexpr int kCount = static_cast<int>(kVectorBytes) / kSize;
  hn::Vec<decltype(d)> rows[kCount];
#pragma GCC unroll 64
  for (int i = 0; i < kCount; ++i) {
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

template <int kSize, bool kStream>
void move_tiles(const Block& b, int64_t p0, int64_t p1, int64_t q1) {
  constexpr int64_t kCount = kVectorBytes / kSize;
  for (int64_t q = 0; q < q1; q += kCount) {
    for (int64_t p = p0; p < p1; p += kCount) {
      move_tile<kSize, kStream>(b.in + p * b.in_step + q * kSize, b.in_step,
                                b.out + q * b.out_step + p * kSize, b.out_step);
    }
  }
}

template <int kSize>
void transpose_block(const Block& b) {
  constexpr int64_t kCount = kVectorBytes / kSize;
  if constexpr (kCount < 2) {
    move_edge<kSize>(b, 0, b.p, 0, b.q);
  } else {
    // Streaming needs every line aligned; the columns before the first such are an edge.
    const auto address = reinterpret_cast<uintptr_t>(b.out);
    const bool stream = b.stream && address % kSize == 0 && b.out_step % kVectorBytes == 0;
    const int64_t head =
        stream ? HWY_MIN(b.p, static_cast<int64_t>((0 - address) % kVectorBytes) / kSize) : 0;
    const int64_t p1 = head + (b.p - head) / kCount * kCount, q1 = b.q / kCount * kCount;
    if (stream) {
      move_tiles<kSize, true>(b, head, p1, q1);
    } else {
      move_tiles<kSize, false>(b, head, p1, q1);
    }
    move_edge<kSize>(b, 0, head, 0, q1);
    move_edge<kSize>(b, p1, b.p, 0, q1);
    move_edge<kSize>(b, 0, b.p, q1, b.q);
  }
}

HWY_INLINE void copy_bytes(char* to, const char* from, int64_t bytes, bool stream) {
  const hn::ScalableTag<uint8_t> d;
  const int64_t head =
      static_cast<int64_t>((0 - reinterpret_cast<uintptr_t>(to)) % uintptr_t{kVectorBytes});
  if (!stream || bytes < head + kVectorBytes) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  std::memcpy(to, from, static_cast<size_t>(head));
  int64_t x = head;
  for (; x + kVectorBytes <= bytes; x += kVectorBytes) {
    hn::Stream(hn::LoadU(d, reinterpret_cast<const uint8_t*>(from + x)), d,
               reinterpret_cast<uint8_t*>(to + x));
  }
  std::memcpy(to + x, from + x, static_cast<size_t>(bytes - x));
}

// The output's rows lie at different places within their lines: no tile can be streamed. The block
// is transposed into the first cache, then each row goes out line by line.
template <int kSize>
void transpose_block_buffered(const Block& b) {
  alignas(64) char buffer[transpose::kBufferBytes];
  Block inner = b;
  inner.out = buffer;
  inner.out_step = b.p * kSize;
  inner.stream = false;
  transpose_block<kSize>(inner);
  for (int64_t q = 0; q < b.q; ++q) {
    copy_bytes(b.out + q * b.out_step, buffer + q * inner.out_step, inner.out_step, true);
  }
}

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // once per target
