// A case of the program in the command line's words: what is computed, of what size and layout.
#pragma once

#include <trine/lists.h>
#include <trine/trine.hpp>

#include <cstdint>
#include <string>
#include <variant>

namespace trine::bench {

/// reduce: rows x cols (a vector is n x 1); transpose: rows x cols; gemm: rows = m, cols = n, depth
/// = k.
struct Size {
  int64_t rows = 0, cols = 0, depth = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

struct Problem {
  Operation operation = Operation::reduce;
  Function function = Function::sum;
  Map map = Map::identity;
  Axis axis = Axis::all;
  Dtype dtype = Dtype::f32;
  Dtype result = Dtype::f32;  ///< reduce's result dtype; else dtype
  Size size;
  int64_t batch = 1;      ///< transpose and gemm: as many matrices, one after the other
  bool shared_b = false;  ///< gemm: one B for all of the batch
  std::string layout;     ///< one letter an operand, r(ow-) or c(olumn-major): "r", "rr", "rrr"
  /// reduce and transpose of a vector: elements from one to the next, and before the first.
  int64_t stride_in = 1, stride_out = 1, offset_in = 0, offset_out = 0;
  double alpha = 1, beta = 0;
  Numerics numerics = Numerics::reproducible;
  std::string values = "uniform";  ///< the oracle's value class
};

using DeviceOperation = std::variant<TRINE_STRUCTS>;

}  // namespace trine::bench
