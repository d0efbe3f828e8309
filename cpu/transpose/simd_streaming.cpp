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

// Bytes of output from which on it goes past the caches. That takes these parts of the time through
// them, f32 in turns, operands that lie in memory (and those used just before): on 2 cores 512^2
// 0.25 (2.1), 640^2 0.28 (1.0), 1024^2 0.30 (1.05), 1448^2 0.20 (0.49); on 16 cores 1024^2 0.38
// (1.04), 1448^2 0.31 (0.57).
constexpr int64_t kStreamBytes = int64_t{3} << 19;
// The same for single bytes, whose blocks take longest: 1024^2 0.52 (1.02), 768^2 (1.18).
constexpr int64_t kStreamSingleBytes = int64_t{7} << 17;

bool streams(const Problem& p) {
  return p.bytes() >= (p.size == 1 ? kStreamSingleBytes : kStreamBytes);
}

constexpr int64_t kPieceBytes = int64_t{256} << 10;
constexpr int64_t kGatherTile = 32;

// Extents of a block in elements.
struct Extents {
  int64_t p, q;
};

// Rows of the input are called for so many bytes ahead: a block is too short a part of them for the
// hardware to notice. 2 cores of an AMD EPYC, f32 1024^2 101 -> 75 us, 4096^2 2.9 -> 2.2 ms; 256
// and 512 bytes the same.
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

// A line of each row of the output at a time, from long parts of the input's rows, which the
// hardware recognizes and reads ahead: 2 KiB of them 0.72 of copy, 4 KiB 0.76, 8 KiB 0.84 (f32 4095
// x 4097). Aligned rows go by two lines: f32 4096^2 0.81, 0.99. Others by many, since every strip
// reads a line more than it writes, but three strips for each of many threads, one of which may be
// late, from shorter parts: 4095 x 4097 on 16 cores, of copy, 1 byte 0.55 with two strips a thread
// and whole parts, 0.64 with three and parts of a quarter, 2 bytes 0.66, 0.73. The last one has two
// lines or more: the first is written with the second, unless vectors are lines and lie alike
// within the rows' lines.
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

// A few elements by many, or many by a few: a large buffer lets the memory's reads and writes take
// turns. f32 4 x 4M and 4M x 4, of a copy: 16 KiB 0.68 0.67, 4 KiB 0.75 0.67, 1 KiB 0.90 0.81.
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
    const bool small = bytes <= kPieceBytes / 4;  // a piece is some of them
    const bool narrow = stream && !small && ((p.p <= kNarrow && p.out_q == p.p) || p.q <= kNarrow);
    const bool strips =
        stream && !narrow && (aligned || p.p * p.size >= 256);  // else rows are too short
    move_ = narrow ? movers.buffered : strips ? movers.strip : movers.block;
    ahead_ = narrow ? kNarrowAhead : stream ? kAhead : 0;
    calls_ = threads > kFew &&
             p.size <= 2;  // 1 byte on 2 threads loses by it: 0.60 of copy without, 0.57 with
    if (small) {
      group_ = kPieceBytes / 4 / bytes;
      span_ = {p.p, p.q};
    }
    if (strips) {
      const Strips of = strips_of(p, aligned, threads);
      if (!small) span_ = {64 / p.size, of.q};
      block_ = {p.p, std::min(span_.q, kStripRows)};
      p_spans_ = small ? 1 : of.p_spans;
    } else {
      block_ = narrow ? narrow_extents(p) : direct_extents(p);
      const int64_t blocks = std::max<int64_t>(1, kPieceBytes / (block_.p * block_.q * p.size));
      if (!small) {
        span_ = p.q <= block_.q ? Extents{block_.p * blocks, p.q}
                                : Extents{block_.p, block_.q * blocks};
      }
      p_spans_ = divide_up(p.p, span_.p);
    }
  }

  void run(Parallel& parallel) {
    const int64_t q_spans = divide_up(p_.q, span_.q);
    const int64_t pieces = divide_up(p_.batch, group_) * p_spans_ * q_spans;
    parallel.parallel_for(pieces, [&](int64_t index, int thread) {
      const int64_t first = index / (p_spans_ * q_spans) * group_;
      for (int64_t b = first; b < std::min(first + group_, p_.batch); ++b) {
        move_span(b, index % q_spans, index / q_spans % p_spans_, kept_ + thread * kKeptLines);
      }
      hwy::FlushStream();
    });
  }

 private:
  // The begin of a part of p: a strip has some of its spans.
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
               calls_, kept});
      }
    }
  }

  const Problem& p_;
  char (*kept_)[64];  ///< kKeptLines for each thread
  void (*move_)(const Block& block);
  Extents block_, span_;
  int64_t p_spans_, ahead_;
  bool calls_;
  int64_t group_ = 1;
};

void copy_all(const Problem& rows, const Movers& movers, Parallel& parallel) {
  Problem p = rows;
  if (p.in_q == p.p && p.out_q == p.p) {  // nothing between the rows: one long one
    p.p *= p.q;
    p.q = 1;
  }
  const int64_t length = p.p * p.size, pieces = divide_up(length, kPieceBytes);
  const int64_t group = std::max<int64_t>(1, kPieceBytes / length);  // short rows
  const bool stream = p.bytes() >= kStreamBytes;
  parallel.parallel_for(divide_up(p.batch * p.q, group) * pieces, [&](int64_t index, int) {
    const int64_t first = index / pieces * group, start = index % pieces * kPieceBytes;
    for (int64_t row = first; row < std::min(first + group, p.batch * p.q); ++row) {
      const int64_t b = row / p.q, y = row % p.q;
      movers.copy(p.out_at(b, y, 0) + start, p.in_at(b, y, 0) + start,
                  std::min(kPieceBytes, length - start), stream);
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
