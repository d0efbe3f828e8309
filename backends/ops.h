/* The vocabulary of Trine in plain C11: statuses, element types and the descriptors of operations.
 *
 * The library and its backends exchange these types; <trine/types.hpp> has the same values as C++
 * enumerations. Installed as <trine/ops.h>. The functions over these types, which a backend or a
 * rung pack implements, are in abi.h.
 *
 * Units. Extents and strides are signed 64-bit counts of elements and never negative. Offsets and
 * sizes of memory are unsigned 64-bit counts of bytes.
 *
 * Growth. Values and fields are only added, never changed or removed. A struct with a `size` field
 * carries the size that its writer knows; abi.h says how a reader treats it.
 */
#ifndef TRINE_OPS_H
#define TRINE_OPS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The outcome of a call. The same mistake gives the same status on every backend. */
typedef enum trine_status {
  TRINE_OK = 0,
  /* An argument is null, of another device, overlapping, misaligned or out of range. */
  TRINE_INVALID_ARGUMENT = 1,
  /* The call is legal, but this device or rung can't do it; the text says why. */
  TRINE_UNSUPPORTED = 2,
  /* There is no such device, backend, rung or parameter. */
  TRINE_NOT_FOUND = 3,
  /* Host or device memory is exhausted. */
  TRINE_OUT_OF_MEMORY = 4,
  /* The driver or the vendor's runtime failed; the text contains its message. */
  TRINE_BACKEND_ERROR = 5,
  /* The device can't be used any more in this process: a driver error that stays, or a forked
     child. */
  TRINE_DEVICE_LOST = 6,
  /* The event or the queue has work in flight. Only event_query and queue_query return it. */
  TRINE_NOT_READY = 7,
  /* A defect of Trine or of a backend. */
  TRINE_INTERNAL = 8
} trine_status;

/* The type of an element.
 *
 * reduce takes F32, F64, I32, I64, U32 and U64; gemm takes F32, F64 and I32. A transpose only looks
 * at the element's size; B8 to B128 are plain bits of that number. F16 and BF16 are reserved:
 * transposes and copies move them as 2 bytes, no rung computes with them. */
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

/* The operations; each has a descriptor struct below. */
typedef enum trine_operation {
  TRINE_REDUCE = 1,
  TRINE_TRANSPOSE = 2,
  TRINE_GEMM = 3
} trine_operation;

/* The function of a reduction. docs/numerics.md defines its result to the bit. */
typedef enum trine_function {
  TRINE_SUM = 1,
  TRINE_PROD = 2,
  TRINE_MIN = 3,
  TRINE_MAX = 4,
  /* The lowest index of the extremum, or of the first NaN; -1 for no elements. */
  TRINE_ARGMIN = 5,
  TRINE_ARGMAX = 6
} trine_function;

/* The function that is applied to each element before it is reduced. PRODUCT multiplies it by the
 * element of a second input: the sum is a dot product. SQUARE and PRODUCT go with SUM only, PRODUCT
 * with F32 and F64. */
typedef enum trine_map {
  TRINE_IDENTITY = 1,
  TRINE_ABS = 2,
  TRINE_SQUARE = 3,
  TRINE_PRODUCT = 4
} trine_map;

/* ALL: one result. EACH_ROW: one result per row, over its columns. EACH_COLUMN: one per column,
 * over its rows. */
typedef enum trine_axis { TRINE_ALL = 1, TRINE_EACH_ROW = 2, TRINE_EACH_COLUMN = 3 } trine_axis;

/* The promise about the bits of a result. An operation asks for REPRODUCIBLE or FAST, a product of
 * F32 or F64 for EXACT, too; a rung states any but EXACT, whose bits depend on the input alone as
 * REPRODUCIBLE's do. */
typedef enum trine_numerics {
  /* The bits of docs/numerics.md, which depend on the input alone. */
  TRINE_REPRODUCIBLE = 1,
  /* Any order of the arithmetic, within a stated error bound. */
  TRINE_FAST = 2,
  /* A historic rung, its bits depend on its order. Runs only when it is named. */
  TRINE_STUDY = 3,
  /* A vendor's own kernel. Runs only when it is named. */
  TRINE_VENDOR = 4,
  /* Each element of a product is the real number, rounded once; for rungs with
     TRINE_TAKES_EXACT. */
  TRINE_EXACT = 5
} trine_numerics;

/* A strided view of device memory. Element (b, i, j) lies at byte
 *   offset + sizeof(element) * (b * batch_stride + i * row_stride + j * col_stride)
 * of `memory`. Strides of an input may be 0 or make elements overlap (broadcast); those of an
 * output may not. A stride along an extent of 0 or 1 has no meaning; core sets it to a harmless
 * value. */
typedef struct trine_view {
  /* The backend's native handle: CUdeviceptr, cl_mem, or on the cpu a host pointer. */
  void* memory;
  /* The place of element (0, 0, 0), in bytes. */
  uint64_t offset;
  /* Extents, in elements. */
  int64_t rows, cols, batch;
  /* Distances between neighbours, in elements. */
  int64_t row_stride, col_stride, batch_stride;
} trine_view;

/* The state of an exact sum: what a sum of F32 or F64 was before its one rounding, so that sums of
 * parts become the sum of the whole. TRINE_EXACT_WORDS words, each little-endian; all zero is the
 * sum of nothing, and sums of equal value are equal words, whatever the order of their terms.
 *
 * Word 0: what was added, trine_exact flags in its lower half; the format's version, 0, in its
 * upper half. Words 1 to 68: a two's complement number, its lowest word first, whose lowest bit
 * weighs 2^TRINE_EXACT_LOWEST. All zero where an infinity or a NaN was added. Any product of two
 * F64 lies within it, 2^60 times. (After U. Kulisch, "Computer Arithmetic and Validity", 2008: the
 * complete register.) */
#define TRINE_EXACT_WORDS 69
#define TRINE_EXACT_LOWEST (-2176)
typedef enum trine_exact {
  /* A NaN, or infinities of both signs: then the only flag beside the last two. */
  TRINE_EXACT_NAN = 1,
  TRINE_EXACT_PLUS_INFINITY = 2,
  TRINE_EXACT_MINUS_INFINITY = 4,
  /* A term other than -0: without it the sum is -0. */
  TRINE_EXACT_NOT_MINUS_ZERO = 8,
  /* Any term at all: without it the sum is +0. */
  TRINE_EXACT_ANY = 16
} trine_exact;

/* A reduction of `input` (rows x cols, batch 1).
 *
 * The index of an element is its row-major position in the view, or its position in its row or
 * column, whatever the strides. `output` is a vector of the results: rows = their number (1,
 * input.rows or input.cols), cols = 1, at a distance of row_stride.
 * result_dtype is dtype for F32 and F64 (a sum of F32 may also go to F64); for sum and prod, I64
 * for I32 and I64, U64 for U32 and U64, modulo 2^64; for min and max, dtype (with ABS, U32 for I32
 * and U64 for I64); for argmin and argmax, I64. A sum of F32 or F64 to U64 writes states instead of
 * results: output.cols is TRINE_EXACT_WORDS, its col_stride 1, and a state begins every row_stride
 * words. */
typedef struct trine_reduce {
  /* sizeof(trine_reduce) as the caller knows it. */
  uint32_t size;
  /* A trine_numerics: REPRODUCIBLE or FAST. */
  uint32_t numerics;
  /* A trine_function, a trine_map and a trine_axis. */
  uint32_t function, map, axis;
  /* Two trine_dtypes. */
  uint32_t dtype, result_dtype;
  /* Zero. */
  uint32_t reserved;
  trine_view input, output;
  trine_view second; /* PRODUCT: of the input's shape and dtype; else all zero */
} trine_reduce;

/* A transposition: output(b, j, i) = input(b, i, j), bits moved as they are.
 *
 * output.rows is input.cols, output.cols is input.rows, and the batches are equal. Along its rows
 * or its columns, each side has a stride of 1; an input may have 0 there instead (broadcast). */
typedef struct trine_transpose {
  /* sizeof(trine_transpose) as the caller knows it. */
  uint32_t size;
  /* A trine_numerics; every transpose is reproducible. */
  uint32_t numerics;
  /* Bytes of an element: 1, 2, 4, 8 or 16. */
  uint32_t element_size;
  /* Zero. */
  uint32_t reserved;
  trine_view input, output;
} trine_transpose;

/* A host scalar of the operands' dtype; the bytes that the dtype doesn't use are zero. */
typedef union trine_scalar {
  double f64;
  float f32;
  int32_t i32;
  uint64_t bits;
} trine_scalar;

/* A matrix product: c = alpha * a * b + beta * c.
 *
 * a is m x k, b is k x n, c is m x n, with one batch count and one dtype. If alpha is 0, a and b
 * are not read; if beta is 0, c is not read.
 *
 * With TRINE_CONTINUES, a chain begins at its element of c instead of +0, and beta is 0: products
 * of parts of k, one after the other, have the bits of the whole. If alpha is 0, c is not read.
 *
 * With numerics EXACT and dtype F32 or F64, c is the real number alpha * sum(a * b) + beta * c,
 * rounded once to nearest even, as docs/numerics.md defines it. Then flags is 0: c can't hold what
 * a part of such a sum is. */
#define TRINE_CONTINUES 1u
/* For trine_rung::takes alone, no flag of a product: the rung takes numerics EXACT. */
#define TRINE_TAKES_EXACT (1ull << 33)
typedef struct trine_gemm {
  /* sizeof(trine_gemm) as the caller knows it. */
  uint32_t size;
  /* A trine_numerics: REPRODUCIBLE, FAST or, of F32 and F64, EXACT. */
  uint32_t numerics;
  /* A trine_dtype: F32, F64 or I32. */
  uint32_t dtype;
  /* Zero. */
  uint32_t reserved;
  trine_scalar alpha, beta;
  trine_view a, b, c;
  /* TRINE_CONTINUES, or 0. A rung takes those that its row says: trine_rung::takes. */
  uint64_t flags;
} trine_gemm;

/* The function of an elementwise command; each step is rounded once.
 *
 * AXPBY: out = fma(p, u, t) with t = q * v. With q = 0, t is +0 and v is ignored; with p = 0, out
 * is t and u is ignored: a NaN there doesn't count. I32 is modulo 2^32. The others take F32 and
 * F64: out, of one element, is p + q, p - q, p * q, p / q or the square root of p. They ignore u
 * and v. */
typedef enum trine_elementwise_function {
  TRINE_AXPBY = 1,
  TRINE_ADD = 2,
  TRINE_SUBTRACT = 3,
  TRINE_MULTIPLY = 4,
  TRINE_DIVIDE = 5,
  TRINE_SQRT = 6
} trine_elementwise_function;

#ifdef __cplusplus
#define TRINE_CONSTEXPR constexpr
#else
#define TRINE_CONSTEXPR
#endif

/* Does the reduction write states of exact sums? */
static inline TRINE_CONSTEXPR int trine_writes_states(const trine_reduce* op) {
  return op->function == TRINE_SUM && (op->dtype == TRINE_F32 || op->dtype == TRINE_F64) &&
         op->result_dtype == TRINE_U64;
}

/* Do the chains of the product begin at c? */
static inline TRINE_CONSTEXPR int trine_continues(const trine_gemm* op) {
  return (op->flags & TRINE_CONTINUES) != 0;
}

/* Is each element to be rounded once? Products of I32 are exact modulo 2^32 in any case. */
static inline TRINE_CONSTEXPR int trine_is_exact(const trine_gemm* op) {
  return op->numerics == TRINE_EXACT && (op->dtype == TRINE_F32 || op->dtype == TRINE_F64);
}

/* Why a rung that takes `takes` (trine_rung::takes) can't run the product; null where it may. */
static inline TRINE_CONSTEXPR const char* trine_untaken(uint64_t takes, const trine_gemm* op) {
  if (trine_is_exact(op) && (takes & TRINE_TAKES_EXACT) == 0)
    return "rounds at every step of a chain, not once";
  /* NOLINTNEXTLINE(modernize-use-nullptr): C11 has none */
  return (op->flags & ~takes) != 0 ? "begins its chains at 0, not at c" : 0;
}

/* The size of one element in bytes; 0 for a value that is no trine_dtype. */
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
