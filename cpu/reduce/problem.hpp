// A reduction as the CPU's rungs see it, whatever its axis: `outputs` independent results, each over
// outer x inner elements. An element's logical index within its result is o * inner + i.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/ops.h"

namespace trine::cpu {

struct Problem {
  std::uint32_t function, map, dtype, result_dtype;
  const std::byte* input;
  std::byte* output;
  std::int64_t outputs, output_step;  // the input's elements between two results
  std::int64_t result_step;           // the output's elements between two results
  std::int64_t outer, outer_step;
  std::int64_t inner, inner_step;

  std::int64_t length() const { return outer * inner; }

  // Where result `r` begins in the input.
  template <class T>
  const T* begin(std::int64_t r) const {
    return reinterpret_cast<const T*>(input) + r * output_step;
  }
  template <class R>
  R& result(std::int64_t r) const {
    return reinterpret_cast<R*>(output)[r * result_step];
  }
};

inline Problem problem_of(const trine_reduce& op) {
  Problem p{};
  p.function = op.function;
  p.map = op.map;
  p.dtype = op.dtype;
  p.result_dtype = op.result_dtype;
  p.input = static_cast<const std::byte*>(op.input.memory) + op.input.offset;
  p.output = static_cast<std::byte*>(op.output.memory) + op.output.offset;
  p.result_step = op.output.row_stride;
  p.outer = 1;
  if (op.axis == TRINE_ALL) {
    p.outputs = 1;
    p.outer = op.input.rows;
    p.outer_step = op.input.row_stride;
    p.inner = op.input.cols;
    p.inner_step = op.input.col_stride;
    // Rows that follow each other without a gap are one long row; a single column is a row, too.
    if (p.inner == 1) {
      p.inner = p.outer;
      p.inner_step = p.outer_step;
      p.outer = 1;
    } else if (p.outer == 1 || p.outer_step == p.inner * p.inner_step) {
      p.inner *= p.outer;
      p.outer = 1;
    }
  } else if (op.axis == TRINE_EACH_ROW) {
    p.outputs = op.input.rows;
    p.output_step = op.input.row_stride;
    p.inner = op.input.cols;
    p.inner_step = op.input.col_stride;
  } else {
    p.outputs = op.input.cols;
    p.output_step = op.input.col_stride;
    p.inner = op.input.rows;
    p.inner_step = op.input.row_stride;
  }
  return p;
}

}  // namespace trine::cpu
