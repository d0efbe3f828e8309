// Shared by the vendor packs: rows without parameters, and how a strided view looks to a BLAS.
#pragma once

#include <trine/abi.h>
#include <trine/lists.h>

#include <cstdio>

namespace trine::peers {

/// Beside exact products a vendor's own stands, which rounds at every step.
constexpr trine_rung rung(const char* name, const char* summary, const char* requirement) {
  return {sizeof(trine_rung),      TRINE_VENDOR,     name, summary, requirement, nullptr, 0,
          sizeof(trine_parameter), TRINE_TAKES_EXACT};
}

/// The sentence of this thread's last failure.
inline thread_local char error_text[256] = "no error";
inline const char* last_error() { return error_text; }

/// A pack's rung for each operation; null: it has none.
struct Rungs {
#define TRINE_RUNG(VALUE, word, ...) const trine_rung* word = nullptr;
  TRINE_OPERATIONS(TRINE_RUNG)
#undef TRINE_RUNG
};
template <const Rungs& all>
const trine_rung* rungs(uint32_t operation, int32_t* count, uint32_t* stride) {
#define TRINE_RUNG(VALUE, word, ...) all.word,
  static constexpr const trine_rung* kRungs[] = {TRINE_OPERATIONS(TRINE_RUNG)};
#undef TRINE_RUNG
  const trine_rung* const rung =
      operation - 1 < TRINE_OPERATION_COUNT ? kRungs[operation - 1] : nullptr;
  *count = rung != nullptr ? 1 : 0;
  *stride = sizeof(trine_rung);
  return rung;
}

/// body(descriptor), of a call that one of the rungs is for.
template <class Body>
auto visit(const trine_call& call, Body&& body) {
  switch (call.operation) {
#define TRINE_VISIT(VALUE, word, ...) \
  case TRINE_##VALUE: return body(*static_cast<const trine_##word*>(call.descriptor));
    TRINE_OPERATIONS(TRINE_VISIT)
#undef TRINE_VISIT
    default: __builtin_unreachable();
  }
}

inline bool in_f64(const trine_transpose& op) { return op.element_size == 8; }
inline bool in_f64(const auto& op) { return op.dtype == TRINE_F64; }

/// body(descriptor, T()): T is the type of its elements, of the two that a BLAS has.
template <class Body>
auto visit_typed(const trine_call& call, Body&& body) {
  return visit(call, [&](const auto& op) { return in_f64(op) ? body(op, 0.0) : body(op, 0.0F); });
}
/// A C library's function for T.
template <class T>
constexpr auto of_type(auto single_precision, auto double_precision) {
  if constexpr (sizeof(T) == 4)
    return single_precision;
  else
    return double_precision;
}
/// alpha or beta.
template <class T>
const T& scalar(const trine_scalar& value) {
  return reinterpret_cast<const T&>(value);
}

/// `why_not(descriptor, native)`: a refusal in words, or nullptr.
template <auto why_not>
trine_status refuses(const trine_native* native, const trine_selection*, const trine_call* call,
                     char* reason, size_t reason_bytes) {
  const char* const refusal = visit(*call, [&](const auto& op) { return why_not(op, *native); });
  if (refusal == nullptr) return TRINE_OK;
  std::snprintf(reason, reason_bytes, "%s", refusal);
  return TRINE_UNSUPPORTED;
}

inline trine_status no_workspace(const trine_native*, const trine_selection*, const trine_call*,
                                 uint64_t* bytes) {
  *bytes = 0;
  return TRINE_OK;
}

/// Rows are contiguous, which a row-major BLAS calls "not transposed". The stride along an extent
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

/// Whether a BLAS that takes C in its own order takes this operand transposed.
inline bool transposed(const trine_view& operand, const trine_view& c) {
  return unit_rows(operand) != unit_rows(c);
}

inline bool contiguous(const trine_view& view) {
  return unit_rows(view) && (view.rows <= 1 || view.row_stride == view.cols);
}

inline bool is_f32_or_f64(uint32_t dtype) { return dtype == TRINE_F32 || dtype == TRINE_F64; }

inline bool fits_int(const trine_view& view) {
  return view.rows <= INT32_MAX && view.cols <= INT32_MAX && view.row_stride <= INT32_MAX &&
         view.col_stride <= INT32_MAX;
}

/// Why no BLAS takes a gemm, a transpose, or this reduction by asum or dot; nullptr where it may.
inline const char* blas_refuses(const trine_gemm& op) {
  if (!is_f32_or_f64(op.dtype)) return "this peer has f32 and f64 only";
  if (!blas_operand(op.a) || !blas_operand(op.b) || !blas_operand(op.c))
    return "this peer takes operands with one unit stride and a leading dimension of at least the "
           "extent";
  if (!fits_int(op.a) || !fits_int(op.b) || !fits_int(op.c) || op.c.batch > INT32_MAX)
    return "this peer counts in 32 bits";
  return nullptr;
}
inline const char* blas_refuses(const trine_transpose& op) {
  if (op.element_size != 4 && op.element_size != 8)
    return "this peer transposes 4 and 8 bytes only";
  if (!row_major(op.input) || !row_major(op.output)) return "this peer takes row-major operands";
  return fits_int(op.input) ? nullptr : "this peer counts in 32 bits";
}
inline const char* blas_refuses(const trine_reduce& op) {
  const bool dot = op.map == TRINE_PRODUCT;
  if (op.function != TRINE_SUM || (op.map != TRINE_ABS && !dot) || op.axis != TRINE_ALL)
    return "this peer reduces by asum and dot: function=sum, map=abs or product, axis=all";
  if (!is_f32_or_f64(op.dtype) || op.dtype != op.result_dtype)
    return "asum and dot have f32 and f64 only";
  if (!contiguous(op.input) || (dot && !contiguous(op.second)) ||
      op.input.rows * op.input.cols > INT32_MAX)
    return "asum and dot take contiguous data and count in 32 bits";
  return nullptr;
}

/// First element of one matrix of a batch, where `memory` is a pointer (cpu, cuda).
template <class T>
T* at(const trine_view& view, int64_t batch) {
  return reinterpret_cast<T*>(static_cast<char*>(view.memory) + view.offset) +
         batch * view.batch_stride;
}

}  // namespace trine::peers
