// A reduction as the GPU kernels see it: which elements of a view make which result, and what a
// device can do about it. Only the rows of reduce include it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "variant.hpp"

namespace trine::gpu {

inline bool is_float(uint32_t dtype) { return dtype == TRINE_F32 || dtype == TRINE_F64; }
inline bool is_signed(uint32_t dtype) { return dtype == TRINE_I32 || dtype == TRINE_I64; }
inline bool is_arg(uint32_t function) {
  return function == TRINE_ARGMIN || function == TRINE_ARGMAX;
}
inline int64_t power_above(int64_t n) {
  return int64_t(std::bit_ceil(uint64_t(std::max<int64_t>(n, 1))));
}
inline int64_t power_below(int64_t n) {
  return int64_t(std::bit_floor(uint64_t(std::max<int64_t>(n, 1))));
}

/// The elements to reduce: element (i, j) of result r lies r * result_stride + i * row_stride + j *
/// col_stride behind the first, and its index is i * row_index + j * col_index.
struct Shape {
  int64_t results = 1, rows = 1, cols = 0;
  int64_t result_stride = 0, row_stride = 0, col_stride = 0;
  int64_t row_index = 0, col_index = 1;
  struct {
    int64_t result_stride = 0, row_stride = 0, col_stride = 0;
  } second = {};  ///< of a dot product: the other input's

  bool results_are_neighbours() const { return std::abs(result_stride) < std::abs(col_stride); }
};

/// `ordered`: the order of elements counts (products), so dimensions stay as they are.
inline Shape shape_of(const trine_reduce& op, bool ordered) {
  const trine_view &v = op.input, &w = op.second;  // the second is all zero where there is none
  // Nothing empty is ever launched, but choose() and refuses() are asked about it.
  const int64_t rows = std::max<int64_t>(v.rows, 1), cols = std::max<int64_t>(v.cols, 1);
  const auto lines = [](int64_t results, int64_t length, int64_t step, int64_t stride,
                        int64_t second_step, int64_t second_stride) -> Shape {
    return {results, 1, length, step, 0, stride, 0, 1, {second_step, 0, second_stride}};
  };
  if (op.axis == TRINE_EACH_ROW)
    return lines(rows, cols, v.row_stride, v.col_stride, w.row_stride, w.col_stride);
  if (op.axis == TRINE_EACH_COLUMN)
    return lines(cols, rows, v.col_stride, v.row_stride, w.col_stride, w.row_stride);
  if (rows == 1) return lines(1, cols, 0, v.col_stride, 0, w.col_stride);
  if (cols == 1) return lines(1, rows, 0, v.row_stride, 0, w.row_stride);
  if (v.row_stride == cols * v.col_stride && w.row_stride == cols * w.col_stride)
    return lines(1, rows * cols, 0, v.col_stride, 0, w.col_stride);
  Shape shape{
      1, rows, cols, 0, v.row_stride, v.col_stride, cols, 1, {0, w.row_stride, w.col_stride}};
  if (!ordered && std::abs(v.row_stride) < std::abs(v.col_stride)) {
    std::swap(shape.rows, shape.cols);
    std::swap(shape.row_stride, shape.col_stride);
    std::swap(shape.row_index, shape.col_index);
    std::swap(shape.second.row_stride, shape.second.col_stride);
    if (!is_arg(op.function) && v.col_stride == rows * v.row_stride &&
        w.col_stride == rows * w.row_stride) {
      shape.cols *= shape.rows;
      shape.rows = 1;
    }
  }
  return shape;
}

/// OpenCL orders groups of one launch only through NVIDIA's PTX; elsewhere a second launch
/// finishes.
inline bool finishes_at_once(const Target& target) {
  return target.backend == kCuda || target.has(TRINE_CAN_INLINE_PTX);
}

// The words of kernels/reduce/tile.h.
enum Phase : int32_t { kWhole = 0, kAccumulate = 1, kFinish = 2 };
enum Options : int32_t {
  kMapAbs = 1,
  kMapSquare = 2,
  kResultF64 = 4,
  kSigned = 8,
  kLargest = 16,
  kStates = 32
};

/// How groups lie over a shape: kernels/reduce/tile.h.
struct Tiling {
  Shape shape;
  int64_t threads = 256;                                                ///< of a group
  int32_t width = 1, lanes = 1, col_lanes = 1, across = 0, splits = 1;  // lanes: powers of two
  int64_t tiles = 1;
};

inline int64_t units_of(const Target& target) {
  return std::max<int64_t>(target.facts->compute_units, 1);
}

inline int32_t options_of(const trine_reduce& op) {
  int32_t options = 0;
  if (op.map == TRINE_ABS) options |= kMapAbs;
  if (op.map == TRINE_SQUARE) options |= kMapSquare;
  if (op.result_dtype == TRINE_F64) options |= kResultF64;
  if (trine_writes_states(&op)) options |= kStates;
  if (is_signed(op.dtype)) options |= kSigned;
  if (op.function == TRINE_MAX || op.function == TRINE_ARGMAX) options |= kLargest;
  return options;
}

constexpr int kSumRungs = 9;

/// The foot of the ladder: reduce_sum_variants.cpp.
std::span<const Variant, kSumRungs> reduce_sum_variants();

}  // namespace trine::gpu
