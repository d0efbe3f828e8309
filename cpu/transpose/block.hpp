// The interface between simd_streaming's cutting of work (plain C++) and its SIMD inner parts.
#pragma once

#include <cstdint>

#include "transpose/problem.hpp"

namespace trine::cpu::transpose {

// out row q, element p = in row p, element q; steps from row to row in bytes.
struct Block {
  const char* in;
  char* out;
  std::int64_t in_step, out_step;
  std::int64_t p, q;
  bool stream;  // bypass the cache where alignment allows
};

constexpr std::int64_t kBufferBytes = 32 << 10;  // of a buffered block

struct Movers {
  void (*block)(const Block& block);
  void (*buffered)(const Block& block);  // streams to rows of any alignment
  void (*copy)(char* to, const char* from, std::int64_t bytes, bool stream);
};

}  // namespace trine::cpu::transpose
