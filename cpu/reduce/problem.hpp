// A reduction as the CPU's rungs see it, whatever its axis: `outputs` independent results, each
// over outer x inner elements. An element's logical index within its result is o * inner + i.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/abi.h"

namespace trine::cpu {

// Where an input's elements lie.
struct Elements {
  const std::byte* input;
  std::int64_t output_step;  // elements between two results
  std::int64_t outer, outer_step;
  std::int64_t inner, inner_step;
  const trine_witness* witness = nullptr;  // of the launch

  std::int64_t length() const { return outer * inner; }

  // Where result `r` begins.
  template <class T>
  const T* begin(std::int64_t r) const {
    return reinterpret_cast<const T*>(input) + r * output_step;
  }
  template <class T>
  T at(std::int64_t r, std::int64_t index) const {
    return begin<T>(r)[index / inner * outer_step + index % inner * inner_step];
  }
};

struct Problem : Elements {
  std::uint32_t function, map, dtype, result_dtype;
  std::byte* output;
  std::int64_t outputs;
  std::int64_t result_step;  // the output's elements between two results
  Elements second;           // of TRINE_PRODUCT: as many, by the same indices

  // The factor of each element in a sum of products: for squares, the element itself.
  const Elements& factor() const { return map == TRINE_PRODUCT ? second : *this; }

  template <class R>
  R& result(std::int64_t r) const {
    return reinterpret_cast<R*>(output)[r * result_step];
  }
};

inline Elements elements_of(const trine_view& view, std::uint32_t axis) {
  const std::byte* input = static_cast<const std::byte*>(view.memory) + view.offset;
  if (axis == TRINE_EACH_ROW) return {input, view.row_stride, 1, 0, view.cols, view.col_stride};
  if (axis == TRINE_EACH_COLUMN) return {input, view.col_stride, 1, 0, view.rows, view.row_stride};
  // Rows that follow each other without a gap are one long row; a single column is a row, too.
  if (view.cols == 1) return {input, 0, 1, 0, view.rows, view.row_stride};
  if (view.rows == 1 || view.row_stride == view.cols * view.col_stride)
    return {input, 0, 1, 0, view.rows * view.cols, view.col_stride};
  return {input, 0, view.rows, view.row_stride, view.cols, view.col_stride};
}

inline Problem problem_of(const trine_reduce& op) {
  return {elements_of(op.input, op.axis),
          op.function,
          op.map,
          op.dtype,
          op.result_dtype,
          static_cast<std::byte*>(op.output.memory) + op.output.offset,
          op.axis == TRINE_ALL        ? 1
          : op.axis == TRINE_EACH_ROW ? op.input.rows
                                      : op.input.cols,
          op.output.row_stride,
          elements_of(op.second, op.axis)};
}

}  // namespace trine::cpu
