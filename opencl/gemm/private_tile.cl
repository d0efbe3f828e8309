// Idea: A and B are packed into panels, then a work-item computes ROWS x COLS of C in vector
// registers, all of k in one go.
// It beats `register_tile` on a CPU, where barriers turn local tiles into loops over memory: here
// the inner loop is fused multiply-adds alone, on ROWS x 2 vectors that never leave registers.
// Requires: a CPU; a workspace for the packed panels. No sister in CUDA, which has no CPUs.
//
//   packed A: panels of ROWS rows,    panel[l][ROWS]     lanes outside the matrix are zero
//   packed B: panels of COLS columns, panel[l][COLS]
//   A work-item takes `block` panels of A, as many as stay in its L2 cache, against one panel of B;
//   the next work-item takes the next panel of B.
#include "problem.h"

#define VECTOR_64_float float16
#define VECTOR_64_double double8
#define VECTOR_64_int uint16
#define VECTOR_32_float float8
#define VECTOR_32_double double4
#define VECTOR_32_int uint8
#define Lanes PASTE(PASTE(VECTOR_, VECTOR_BYTES), PASTE(_, T))
#define LANES (VECTOR_BYTES / (int)sizeof(T))
#define COLS (2 * LANES)
#if VECTOR_BYTES == 64
#define ROWS 12
#else
#define ROWS 6
#endif
#define STEPS 256 /* of k that one work-item packs */

#if PASTE(INTEGER_, T)
DEVICE Lanes multiply_add_lanes(T x, Lanes y, Lanes acc) { return x * y + acc; }
#else
DEVICE Lanes multiply_add_lanes(T x, Lanes y, Lanes acc) { return fma((Lanes)x, y, acc); }
#endif

// Packs `lanes` lanes of x into panels `width` wide. Group: (steps of k, panel, batch).
DEVICE void pack_panel(const GLOBAL T* x, long lane_stride, long k_stride, GLOBAL T* to, long lanes,
                       long k, long chunk, const int width) {
  const long first = chunk * STEPS, last = min(first + STEPS, k);
  for (long l = first; l < last; ++l)
    for (int w = 0; w < width; ++w)
      to[l * width + w] = w < lanes ? x[w * lane_stride + l * k_stride] : (T)0;
}

#define PACK_ARGUMENTS                                                                      \
  const GLOBAL T *RESTRICT x, long x_offset, long x_batch, long lane_stride, long k_stride, \
      GLOBAL T *RESTRICT packed, long packed_offset, long lanes, long k, int chunks, int panels

#define PACK(width)                                                                    \
  const long chunk = group_x() % chunks, panel = group_x() / chunks % panels;          \
  const long batch = group_x() / chunks / panels;                                      \
  const GLOBAL T* from = x + x_offset + batch * x_batch + panel * width * lane_stride; \
  GLOBAL T* to = packed + packed_offset + (batch * panels + panel) * width * k;        \
  const long left = lanes - panel * width;                                             \
  if (left >= width && lane_stride == 1)                                               \
    pack_panel(from, 1, k_stride, to, width, k, chunk, width);                         \
  else if (left >= width && k_stride == 1)                                             \
    pack_panel(from, lane_stride, 1, to, width, k, chunk, width);                      \
  else                                                                                 \
    pack_panel(from, lane_stride, k_stride, to, left, k, chunk, width)

KERNEL_OF(pack_a, 1, 1)(PACK_ARGUMENTS) { PACK(ROWS); }
KERNEL_OF(pack_b, 1, 1)(PACK_ARGUMENTS) { PACK(COLS); }

// One tile of C: `height` x `width` of ROWS x COLS are inside.
DEVICE void multiply_tile(const GLOBAL T* a_panel, const GLOBAL T* b_panel, long k, GLOBAL T* c,
                          long c_row, long c_col, T alpha, T beta, int flags, int height,
                          int width) {
  T results[ROWS][COLS] ALIGNED(64);
  Lanes acc[ROWS][2];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) acc[i][0] = acc[i][1] = (Lanes)0;
  if (flags & CONTINUE) {
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < width; ++j) results[i][j] = c[i * c_row + j * c_col];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      acc[i][0] = ((Lanes*)results[i])[0];
      acc[i][1] = ((Lanes*)results[i])[1];
    }
  }
#pragma unroll 4
  for (long l = 0; l < k; ++l) {
    const Lanes y0 = ((const GLOBAL Lanes*)b_panel)[2 * l];
    const Lanes y1 = ((const GLOBAL Lanes*)b_panel)[2 * l + 1];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      const T x = a_panel[l * ROWS + i];
      acc[i][0] = multiply_add_lanes(x, y0, acc[i][0]);
      acc[i][1] = multiply_add_lanes(x, y1, acc[i][1]);
    }
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    ((Lanes*)results[i])[0] = acc[i][0];
    ((Lanes*)results[i])[1] = acc[i][1];
  }
  if (height == ROWS && width == COLS && c_col == 1) {
    for (int i = 0; i < ROWS; ++i)
      for (int j = 0; j < COLS; ++j) finish(c + i * c_row + j, results[i][j], alpha, beta, flags);
  } else {
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < width; ++j)
        finish(c + i * c_row + j * c_col, results[i][j], alpha, beta, flags);
  }
}

KERNEL_OF(private_tile, 1, 1)
(const GLOBAL T* RESTRICT packed, long a_packed, long a_batch, long b_packed, long b_batch,
 GLOBAL T* RESTRICT c, long c_offset, long c_batch, long c_row, long c_col, long m, long n, long k,
 T alpha, T beta, int flags, int block, int blocks, int panels_n) {
  const long col = group_x() % panels_n, first = group_x() / panels_n % blocks * block;
  const long batch = group_x() / panels_n / blocks, j = col * COLS;
  const GLOBAL T* b_panel = packed + b_packed + batch * b_batch + j * k;
  c += c_offset + batch * c_batch + j * c_col;
  for (long i = first * ROWS; i < min((first + block) * ROWS, m); i += ROWS)
    multiply_tile(packed + a_packed + batch * a_batch + i * k, b_panel, k, c + i * c_row, c_row,
                  c_col, alpha, beta, flags, min(m - i, (long)ROWS), min(n - j, (long)COLS));
}
