// How much work an operation is: what it reads, writes and computes, and what its operands take.
#pragma once

#include <trine/operations.hpp>

#include <vector>

namespace trine::detail {

/// The sizes of a grid of measurements, by dimension.
using Extents = std::vector<std::vector<double>>;

/// Calls that share a grid of measured times: one operation, dtype, function and axis, up to what
/// makes no difference in time worth another measurement (signs, maps, layouts).
struct CallClass {
  Operation operation = Operation::reduce;
  Function function{};
  Axis axis{};
  Dtype dtype = Dtype::f32;
  std::string words;  ///< "reduce sum f32 all", "transpose b32", "gemm f64"
  Extents extents;    ///< the sizes that are measured
};
constexpr int kNoClass = -1;

/// The amount that an operation reads, writes and computes.
struct Work {
  Operation operation = Operation::reduce;
  Dtype dtype = Dtype::f32;  ///< of what is computed with: of exact products f64
  double bytes_in = 0, bytes_out = 0;
  double flops = 0;  ///< of gemm, else 0
  /// Bytes of each operand's memory: used in place, and as a host call brings it to a device.
  struct Memory {
    uint64_t span = 0, packed = 0;
  } operands[3] = {};
  int call_class = kNoClass;  ///< in call_classes()
  /// Elements, or results and elements of each; rows and columns; m, n, k. A batch counts as rows.
  double extents[3] = {};

  /// So little that measuring, or waking a driver, would cost more than any device could save.
  bool is_tiny() const { return bytes_in + bytes_out <= 1 << 20 && flops <= 4e7; }
};

/// A dimension with stride 0 repeats the same elements.
double elements(const View& view);
inline double bytes(const View& view) { return elements(view) * size_of(view.dtype); }
Work::Memory memory_of(const View& view, bool is_output);

/// An input goes to a device as it lies, in one piece, unless its gaps are more than its elements;
/// all else is packed.
inline bool goes_whole(uint64_t span, uint64_t payload, bool is_output) {
  return !is_output && span <= 2 * payload;
}

}  // namespace trine::detail
