// A transposition as every CPU rung sees it: a copy between two strided index spaces.
//
// Element (b, q, p) goes from in + b in_b + q in_q + p in_p to out + b out_b + q out_q + p out_p
// (all in elements). p is the direction in which the output is contiguous; what the input does in
// it tells the work:
//   in_p == 1   rows are copied (the two sides agree on the contiguous direction);
//   in_q == 1   a transposition;
//   neither     a gather (broadcast input, or lone strided vectors).
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "backends/ops.h"

namespace trine::cpu::transpose {

enum class Kind { kNothing, kCopy, kTranspose, kGather };

struct Problem {
  const char* in;
  char* out;
  std::int64_t p, q, batch;
  std::int64_t in_p, in_q, in_b, out_p, out_q, out_b;
  std::int64_t size;  // bytes of an element

  Kind kind() const {
    if (p == 0 || q == 0 || batch == 0) return Kind::kNothing;
    if (out_p != 1 && p > 1) return Kind::kGather;
    if (in_p == 1 || p == 1) return Kind::kCopy;
    return in_q == 1 && q > 1 ? Kind::kTranspose : Kind::kGather;
  }
  std::int64_t bytes() const { return p * q * batch * size; }
  const char* in_at(std::int64_t b, std::int64_t y, std::int64_t x) const {
    return in + (b * in_b + y * in_q + x * in_p) * size;
  }
  char* out_at(std::int64_t b, std::int64_t y, std::int64_t x) const {
    return out + (b * out_b + y * out_q + x * out_p) * size;
  }
};

// Directions of extent 1 move outwards, so that vectors and scalars of a batch become rows.
inline Problem problem(const trine_transpose& op) {
  const trine_view &in = op.input, &out = op.output;
  Problem r{static_cast<const char*>(in.memory) + in.offset,
            static_cast<char*>(out.memory) + out.offset,
            in.rows,
            in.cols,
            out.batch,
            in.row_stride,
            in.col_stride,
            in.batch_stride,
            out.col_stride,
            out.row_stride,
            out.batch_stride,
            op.element_size};
  const auto swap_pq = [&r] {
    std::swap(r.p, r.q);
    std::swap(r.in_p, r.in_q);
    std::swap(r.out_p, r.out_q);
  };
  const auto batch_to_q = [&r] {
    r.q = std::exchange(r.batch, 1);
    r.in_q = r.in_b;
    r.out_q = r.out_b;
  };
  if (r.p == 1 || (r.q > 1 && r.out_p != 1 && r.out_q == 1)) swap_pq();
  if (r.q == 1) batch_to_q();
  if (r.p == 1 || (r.q > 1 && r.out_p != 1 && r.out_q == 1)) swap_pq();
  return r;
}

// One element from anywhere to anywhere: 8 and 16-byte elements may be aligned to 4 only.
template <int kSize>
void move_element(char* to, const char* from) {
  std::memcpy(to, from, kSize);
}

// A part of a transposition, as simd_streaming's plain C++ gives it to the SIMD code: element p of
// row q of the output is element q of row p of the input. Steps from row to row are in bytes.
struct Block {
  const char* in;
  char* out;
  std::int64_t in_step, out_step;
  std::int64_t p, q;
  std::int64_t ahead;      // the input's rows are prefetched so many bytes ahead
  bool is_first, is_last;  // strips: whether the output's rows begin, end with it
  bool prefetches;         // strips: the next rows, while these are moved
  char (*kept)[64];        // strips: two lines for each of their rows, or for kStripRows
};

constexpr std::int64_t kBufferBytes = 1 << 10;  // of a buffered block
constexpr std::int64_t kStripRows = 2304;       // more than 2048: 4097 rows are two strips
constexpr std::int64_t kKeptLines =
    2 * kStripRows;  // what a row has beyond its last whole line, and its beginning

struct Movers {
  void (*block)(const Block& block);
  void (*buffered)(const Block& block);  // streams to narrow rows of any alignment
  void (*strip)(const Block& block);     // streams to kStripRows long ones at most
  void (*copy)(char* to, const char* from, std::int64_t bytes, bool stream);
};

// Calls visit.operator()<kSize>() with the element's size as a constant.
template <class Visit>
decltype(auto) visit_size(std::int64_t size, Visit&& visit) {
  switch (size) {
    case 1: return visit.template operator()<1>();
    case 2: return visit.template operator()<2>();
    case 4: return visit.template operator()<4>();
    case 8: return visit.template operator()<8>();
    default: return visit.template operator()<16>();
  }
}

}  // namespace trine::cpu::transpose
