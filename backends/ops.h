/* The shared vocabulary of Trine: dtypes, status codes and operation descriptors, in plain C11.
 *
 * Everything that crosses the border between the library and a backend is written in these words.
 * Installed as <trine/ops.h>. The contract itself, functions over these types, is abi.h.
 *
 * Extents and strides are signed 64-bit element counts; they are never negative.
 * Offsets and sizes in memory are unsigned 64-bit byte counts.
 */
#ifndef TRINE_OPS_H
#define TRINE_OPS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call came to. The same mistake gives the same status on every backend. */
typedef enum trine_status {
  TRINE_OK = 0,
  TRINE_INVALID_ARGUMENT = 1, /* null, foreign, overlapping, misaligned or out of range */
  TRINE_UNSUPPORTED = 2,      /* legal, but this device or rung can't do it; the text says why */
  TRINE_NOT_FOUND = 3,        /* no such device, backend, rung or parameter */
  TRINE_OUT_OF_MEMORY = 4,    /* host or device memory is exhausted */
  TRINE_BACKEND_ERROR = 5,    /* the driver or runtime failed; the text carries its words */
  TRINE_DEVICE_LOST = 6,      /* a sticky driver error, or a forked child: nothing works any more */
  TRINE_NOT_READY = 7,        /* an event that has not happened yet (event_query only) */
  TRINE_INTERNAL = 8          /* a defect of Trine or of a backend */
} trine_status;

/* Element types. reduce takes F32 F64 I32 I64 U32 U64; gemm F32 F64 I32;
 * transpose looks at the element's size alone, and B8 … B128 name plain bits of that size.
 * F16 and BF16 are reserved for gemm's `fast` mode: none computes with them, transpose takes them as 2 bytes. */
typedef enum trine_dtype {
  TRINE_F32 = 1,
  TRINE_F64 = 2,
  TRINE_I32 = 3,
  TRINE_I64 = 4,
  TRINE_U32 = 5,
  TRINE_U64 = 6,
  TRINE_F16 = 7,
  TRINE_BF16 = 8,
  TRINE_B8 = 9,
  TRINE_B16 = 10,
  TRINE_B32 = 11,
  TRINE_B64 = 12,
  TRINE_B128 = 13
} trine_dtype;

typedef enum trine_operation {
  TRINE_REDUCE = 1,
  TRINE_TRANSPOSE = 2,
  TRINE_GEMM = 3
} trine_operation;

typedef enum trine_function {
  TRINE_SUM = 1,
  TRINE_PROD = 2,
  TRINE_MIN = 3,
  TRINE_MAX = 4,
  TRINE_ARGMIN = 5,
  TRINE_ARGMAX = 6
} trine_function;

/* Applied to each element before it is reduced. SQUARE goes with SUM alone. */
typedef enum trine_map { TRINE_IDENTITY = 1, TRINE_ABS = 2, TRINE_SQUARE = 3 } trine_map;

/* ALL: one result. EACH_ROW: one per row, taken along its columns. EACH_COLUMN: one per column. */
typedef enum trine_axis { TRINE_ALL = 1, TRINE_EACH_ROW = 2, TRINE_EACH_COLUMN = 3 } trine_axis;

/* What a rung promises of its bits. REPRODUCIBLE: design's fixed bits. FAST: any order, a stated
 * bound. STUDY: a historic rung, its bits depend on its order. VENDOR: a peer's own kernel. */
typedef enum trine_numerics {
  TRINE_REPRODUCIBLE = 1,
  TRINE_FAST = 2,
  TRINE_STUDY = 3,
  TRINE_VENDOR = 4
} trine_numerics;

/* A strided view of device memory: element (b, i, j) lies at
 *   memory + offset + sizeof(element) * (b * batch_stride + i * row_stride + j * col_stride).
 * `memory` is the backend's native handle: CUdeviceptr, cl_mem, or a host pointer (cpu).
 * Strides of an input may be 0 or overlap (broadcast); outputs may not. A stride along an extent
 * of 1 or 0 means nothing. */
typedef struct trine_view {
  void* memory;
  uint64_t offset; /* bytes */
  int64_t rows, cols, batch;
  int64_t row_stride, col_stride, batch_stride; /* elements */
} trine_view;

/* Reduce `input` (rows x cols, batch 1). An element's index is its logical row-major position in
 * the view, or its position within its row or column. `output` holds the results as a vector:
 * rows = number of results (1, input.rows or input.cols), cols = 1, spaced by row_stride.
 * result_dtype: f32, f64 keep theirs (an f32 sum may ask for F64); sum and prod of I32, I64 are I64 and
 * of U32, U64 are U64, modulo 2^64; min and max keep the dtype (ABS of I32, I64: U32, U64);
 * argmin, argmax: I64. */
typedef struct trine_reduce {
  uint32_t size; /* sizeof(trine_reduce) as the caller knows it */
  uint32_t numerics;
  uint32_t function, map, axis;
  uint32_t dtype, result_dtype;
  uint32_t reserved;
  trine_view input, output;
} trine_reduce;

/* output(b, j, i) = input(b, i, j), bits moved as they are. element_size: 1, 2, 4, 8 or 16 bytes.
 * Each side has a unit stride (rows or columns) wherever the extent along it exceeds 1 — for the
 * input or 0 (broadcast). output.rows == input.cols, output.cols == input.rows. */
typedef struct trine_transpose {
  uint32_t size;
  uint32_t numerics;
  uint32_t element_size;
  uint32_t reserved;
  trine_view input, output;
} trine_transpose;

/* A host scalar of the operand dtype; the unused bytes are zero. */
typedef union trine_scalar {
  double f64;
  float f32;
  int32_t i32;
  uint64_t bits;
} trine_scalar;

/* C = alpha * A B + beta * C, batched: a is m x k, b is k x n, c is m x n, all of `dtype`.
 * alpha == 0: A and B are not read. beta == 0: C is not read. */
typedef struct trine_gemm {
  uint32_t size;
  uint32_t numerics;
  uint32_t dtype;
  uint32_t reserved;
  trine_scalar alpha, beta;
  trine_view a, b, c;
} trine_gemm;

#ifdef __cplusplus
#define TRINE_CONSTEXPR constexpr
#else
#define TRINE_CONSTEXPR
#endif

/* Bytes of one element, 0 for an unknown dtype. */
static inline TRINE_CONSTEXPR uint32_t trine_dtype_size(uint32_t dtype) {
  switch (dtype) {
    case TRINE_B8: return 1;
    case TRINE_F16:
    case TRINE_BF16:
    case TRINE_B16: return 2;
    case TRINE_F32:
    case TRINE_I32:
    case TRINE_U32:
    case TRINE_B32: return 4;
    case TRINE_F64:
    case TRINE_I64:
    case TRINE_U64:
    case TRINE_B64: return 8;
    case TRINE_B128: return 16;
    default: return 0;
  }
}

#ifdef __cplusplus
}
#endif
#endif /* TRINE_OPS_H */
