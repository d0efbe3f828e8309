// simd_streaming: tiles transposed in registers; each line of the input is read once and each line
// of the output written whole, past the caches from kStreamBytes on (a plain store
// would read the line first: half as much traffic again). Rows that agree on both sides are copied.
#define HWY_WANT_AVX3_DL  // it turns bytes by one instruction
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transpose/simd_streaming.cpp"
#include <algorithm>
#include <array>
#include <numeric>

#include "hwy/cache_control.h"

#include "simd.hpp"
#include "transpose/rungs.hpp"

#include "transpose/narrow-inl.hpp"
#include "transpose/registers-inl.hpp"
#include "transpose/tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

transpose::Movers movers(int64_t size) {
  return transpose::visit_size(size, []<int kSize>() {
    return transpose::Movers{transpose_block<kSize>, transpose_block_buffered<kSize>,
                             transpose_strip<kSize>, copy_bytes};
  });
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(movers);

namespace transpose {
namespace {

using std::int64_t;

// The bytes of output from which on it bypasses the caches. From this size on that takes less than
// half of the time for operands in memory, and no more for operands that were just used.
constexpr int64_t kStreamBytes = int64_t{3} << 19;
// The same for single bytes, whose blocks take longest.
constexpr int64_t kStreamSingleBytes = int64_t{7} << 17;

bool streams(const Problem& p) {
  return p.bytes() >= (p.size == 1 ? kStreamSingleBytes : kStreamBytes);
}

constexpr int64_t kChunkBytes = int64_t{256} << 10;
constexpr int64_t kGatherTile = 32;

// Extents of a block in elements.
struct Extents {
  int64_t p, q;
};

// The distance in bytes by which rows of the input are prefetched, because a block has too short a
// part of them for the hardware's prefetch. 256 and 512 bytes are as fast.
constexpr int64_t kAhead = 128;

// Four lines by four lines; a narrow matrix gets as many elements in its long direction.
Extents direct_extents(const Problem& p) {
  const int64_t side = 256 / p.size;
  if (p.p < side) return {p.p, side * side / p.p};
  if (p.q < side) return {side * side / p.q, p.q};
  return {side, side};
}

constexpr int kFew = 2;  // threads; what is for more was measured with 16

// The number of parts that p is cut into, and the extent of those of q.
struct Strips {
  int64_t p_spans, q;
};

// A strip writes a line of each row of the output at a time, from long parts of the input's rows,
// because the hardware prefetches these (docs/decisions/transposes-on-cpus.md). A strip of aligned
// rows has two lines. A strip of other rows has many, because it reads a line more than it writes;
// but each of many threads gets three strips, from shorter parts, because one thread may be late.
// The last strip has two lines or more, because its first line is written together with its second,
// unless rows are aligned and a vector is a line.
Strips strips_of(const Problem& p, bool aligned, int threads) {
  const int64_t side = 64 / p.size, lines = divide_up(p.p, side);
  const bool many = threads > kFew;
  const int64_t part = kStripRows / (aligned || !many ? 1 : p.size > 2 ? 2 : 4);
  const int64_t q_spans = divide_up(p.q, std::min(part, (int64_t{9} << 10) / p.size));
  const int64_t wanted = divide_up(many ? 3 * threads : threads, q_spans * p.batch);
  const int64_t spans = std::max(p.p / (side * (aligned ? 2 : 64)), wanted);
  const int64_t most = std::max<int64_t>(1, lines - 1);
  return {std::clamp<int64_t>(spans, 1, most), round_up(divide_up(p.q, q_spans), side)};
}

// Matrices with few rows or columns go through a buffer (kBufferBytes). A larger buffer is slower,
// because the memory's reads and writes then take turns.
constexpr int64_t kNarrow = 4;
constexpr int64_t kNarrowAhead = 2 << 10;

Extents narrow_extents(const Problem& p) {
  const int64_t side = 64 / p.size, narrow = std::min(p.p, p.q);
  const int64_t count = kBufferBytes / 64 / narrow * side;  // whole lines, also of three
  return p.p <= kNarrow ? Extents{p.p, count} : Extents{count, p.q};
}

class Transposition {
 public:
  Transposition(const Problem& p, const Movers& movers, void* workspace, int threads)
      : p_(p), kept_(static_cast<char (*)[64]>(workspace)) {
    const bool stream = streams(p), aligned = p.out_q * p.size % 64 == 0;
    const int64_t bytes = std::max<int64_t>(1, p.p * p.q * p.size);
    const bool small = bytes <= kChunkBytes / 4;  // a chunk is some of them
    const bool narrow = stream && !small && ((p.p <= kNarrow && p.out_q == p.p) || p.q <= kNarrow);
    const bool strips =
        stream && !narrow && (aligned || p.p * p.size >= 256);  // else rows are too short
    move_ = narrow ? movers.buffered : strips ? movers.strip : movers.block;
    ahead_ = narrow ? kNarrowAhead : stream ? kAhead : 0;
    prefetches_ = threads > kFew && p.size <= 2;  // with 2 threads single bytes would lose
    if (small) {
      group_ = kChunkBytes / 4 / bytes;
      span_ = {p.p, p.q};
    }
    if (strips) {
      const Strips of = strips_of(p, aligned, threads);
      if (!small) span_ = {64 / p.size, of.q};
      block_ = {p.p, std::min(span_.q, kStripRows)};
      p_spans_ = small ? 1 : of.p_spans;
    } else {
      block_ = narrow ? narrow_extents(p) : direct_extents(p);
      const int64_t blocks = std::max<int64_t>(1, kChunkBytes / (block_.p * block_.q * p.size));
      if (!small) {
        span_ = p.q <= block_.q ? Extents{block_.p * blocks, p.q}
                                : Extents{block_.p, block_.q * blocks};
      }
      p_spans_ = divide_up(p.p, span_.p);
    }
  }

  void run(Parallel& parallel) {
    const int64_t q_spans = divide_up(p_.q, span_.q);
    const int64_t chunks = divide_up(p_.batch, group_) * p_spans_ * q_spans;
    parallel.parallel_for(chunks, [&](int64_t index, int thread) {
      const int64_t first = index / (p_spans_ * q_spans) * group_;
      for (int64_t b = first; b < std::min(first + group_, p_.batch); ++b) {
        move_span(b, index % q_spans, index / q_spans % p_spans_, kept_ + thread * kKeptLines);
      }
      hwy::FlushStream();
    });
  }

 private:
  // The beginning of a part of p, which has whole spans.
  int64_t begin_of(int64_t part) const {
    return std::min(p_.p, divide_up(p_.p, span_.p) * part / p_spans_ * span_.p);
  }
  void move_span(int64_t b, int64_t q_span, int64_t p_span, char (*kept)[64]) const {
    const int64_t x0 = begin_of(p_span), x1 = begin_of(p_span + 1);
    const int64_t y0 = q_span * span_.q, y1 = std::min(y0 + span_.q, p_.q);
    for (int64_t x = x0; x < x1; x += block_.p) {
      for (int64_t y = y0; y < y1; y += block_.q) {
        move_({p_.in_at(b, y, x), p_.out_at(b, y, x), p_.in_p * p_.size, p_.out_q * p_.size,
               std::min(block_.p, x1 - x), std::min(block_.q, y1 - y), ahead_, x == 0, x1 == p_.p,
               prefetches_, kept});
      }
    }
  }

  const Problem& p_;
  char (*kept_)[64];  ///< kKeptLines for each thread
  void (*move_)(const Block& block);
  Extents block_, span_;
  int64_t p_spans_, ahead_;
  bool prefetches_;
  int64_t group_ = 1;
};

void copy_all(const Problem& rows, const Movers& movers, Parallel& parallel) {
  Problem p = rows;
  if (p.in_q == p.p && p.out_q == p.p) {  // nothing between the rows: one long one
    p.p *= p.q;
    p.q = 1;
  }
  const int64_t length = p.p * p.size, chunks = divide_up(length, kChunkBytes);
  const int64_t group = std::max<int64_t>(1, kChunkBytes / length);  // short rows
  const bool stream = p.bytes() >= kStreamBytes;
  parallel.parallel_for(divide_up(p.batch * p.q, group) * chunks, [&](int64_t index, int) {
    const int64_t first = index / chunks * group, start = index % chunks * kChunkBytes;
    for (int64_t row = first; row < std::min(first + group, p.batch * p.q); ++row) {
      const int64_t b = row / p.q, y = row % p.q;
      movers.copy(p.out_at(b, y, 0) + start, p.in_at(b, y, 0) + start,
                  std::min(kChunkBytes, length - start), stream);
    }
    hwy::FlushStream();
  });
}

}  // namespace

std::size_t simd_streaming_workspace_bytes(const trine_transpose& op, const std::int64_t*,
                                           int threads) {
  return streams(problem(op)) ? static_cast<std::size_t>(threads) * kKeptLines * 64 : 0;
}

void run_simd_streaming(const trine_transpose& op, const std::int64_t*, void* workspace,
                        Parallel& parallel) {
  const Problem p = problem(op);
  const Movers movers = HWY_DYNAMIC_DISPATCH(movers)(p.size);
  switch (p.kind()) {
    case Kind::kNothing: return;
    case Kind::kCopy: return copy_all(p, movers, parallel);
    case Kind::kTranspose:
      return Transposition(p, movers, workspace, parallel.threads()).run(parallel);
    case Kind::kGather: return move_blocked(p, kGatherTile, parallel);
  }
}

}  // namespace transpose
}  // namespace trine::cpu
#endif
