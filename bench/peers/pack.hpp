// What the vendor packs share: rows without parameters, and how a strided view looks to a BLAS.
#pragma once

#include <trine/abi.h>

#include <cstdio>

namespace trine::peers {

constexpr trine_rung rung(const char* name, const char* summary, const char* requirement) {
  return {sizeof(trine_rung), TRINE_VENDOR, name, summary,
          requirement,        nullptr,      0,    sizeof(trine_parameter)};
}

/// The reason a pack's rung refuses a call, or nullptr.
template <class Reduce, class Transpose, class Gemm>
const char* refusal(const trine_call& call, Reduce reduce, Transpose transpose, Gemm gemm) {
  switch (call.operation) {
    case TRINE_REDUCE: return reduce(*static_cast<const trine_reduce*>(call.descriptor));
    case TRINE_TRANSPOSE: return transpose(*static_cast<const trine_transpose*>(call.descriptor));
    case TRINE_GEMM: return gemm(*static_cast<const trine_gemm*>(call.descriptor));
    default: return "an operation this pack doesn't know";
  }
}

inline trine_status answer(const char* refusal, char* reason, size_t reason_bytes) {
  if (refusal == nullptr) return TRINE_OK;
  std::snprintf(reason, reason_bytes, "%s", refusal);
  return TRINE_UNSUPPORTED;
}

/// Rows lie contiguously: what a row-major BLAS calls "not transposed". The stride along an extent
/// of 1 is free.
inline bool unit_rows(const trine_view& view) { return view.col_stride == 1 || view.cols <= 1; }
inline bool unit_cols(const trine_view& view) { return view.row_stride == 1 || view.rows <= 1; }

/// The leading dimension: the distance of two rows (or columns, for a column-major view).
inline int64_t leading(const trine_view& view) {
  const bool by_rows = unit_rows(view);
  const int64_t extent = by_rows ? view.cols : view.rows, lines = by_rows ? view.rows : view.cols;
  const int64_t stride = by_rows ? view.row_stride : view.col_stride;
  const int64_t least = extent > 0 ? extent : 1;
  return lines <= 1 ? least : stride;
}

/// BLAS wants one unit stride and lines that don't overlap.
inline bool blas_operand(const trine_view& view) {
  if (!unit_rows(view) && !unit_cols(view)) return false;
  return leading(view) >= (unit_rows(view) ? view.cols : view.rows);
}

inline bool row_major(const trine_view& view) {
  return unit_rows(view) && leading(view) >= view.cols;
}

inline bool contiguous(const trine_view& view) {
  return unit_rows(view) && (view.rows <= 1 || view.row_stride == view.cols);
}

/// First element of one matrix of a batch, where `memory` is a pointer (cpu, cuda).
template <class T>
T* at(const trine_view& view, int64_t batch) {
  return reinterpret_cast<T*>(static_cast<char*>(view.memory) + view.offset) +
         batch * view.batch_stride;
}

}  // namespace trine::peers
