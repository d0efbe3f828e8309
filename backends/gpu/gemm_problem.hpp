// A gemm as the GPU kernels see it: strides in elements, and always a C whose columns have unit
// stride. Only gemm's rows include it.
#pragma once

#include <cstdint>
#include <utility>

#include "backends/kit/bits.hpp"
#include "backends/ops.h"

namespace trine::gpu {

struct Operand {
  void* memory;
  int64_t offset, batch, row, col;  // elements; strides along extents of 1 are 0

  Operand(const trine_view& view, uint32_t element)
      : memory(view.memory),
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): core has checked the dtype
        offset(static_cast<int64_t>(view.offset / element)),
        batch(view.batch > 1 ? view.batch_stride : 0),
        row(view.rows > 1 ? view.row_stride : 0),
        col(view.cols > 1 ? view.col_stride : 0) {}
  void transpose() { std::swap(row, col); }
};

/// A gemm as its kernels see it. C's columns have unit stride: where its rows have, the transposed
/// problem is computed, C' = B' A', whose chains are the same.
struct Problem {
  uint32_t element;
  Operand a, b, c;
  int64_t m, n, k, batch;
  bool multiply, continues, add_c;

  explicit Problem(const trine_gemm& op)
      : element(trine_dtype_size(op.dtype)),
        a(op.a, element),
        b(op.b, element),
        c(op.c, element),
        m(op.c.rows),
        n(op.c.cols),
        k(op.a.cols),
        batch(op.c.batch),
        multiply(k > 0 && !kit::is_zero(op.dtype, op.alpha)),
        continues(kit::continues(op)),
        add_c(!kit::is_zero(op.dtype, op.beta)) {
    if (c.col != 1 && c.row <= 1) transpose();  // along a single row any stride is legal
  }
  void transpose() {
    std::swap(a, b);
    std::swap(m, n);
    a.transpose();
    b.transpose();
    c.transpose();
  }
  /// Matrices of A or B: one where the whole batch has the same.
  int64_t matrices(const Operand& x) const { return x.batch == 0 ? 1 : batch; }
  bool empty() const { return m == 0 || n == 0 || batch == 0; }
};

}  // namespace trine::gpu
