/* The operations that the cheating_backends lie about, done right: a transpose of any element size
 * and a gemm of f32. */
#ifndef TRINE_TESTS_LIARS_TRUTH_H
#define TRINE_TESTS_LIARS_TRUTH_H

#include <math.h>
#include <string.h>
#include <trine/abi.h>

static inline char* element(const trine_view* view, int64_t i, int64_t j, int64_t size) {
  return (char*)view->memory + view->offset + size * (i * view->row_stride + j * view->col_stride);
}

/* The first `rows` rows of the output. */
static inline void transpose_rows(const trine_transpose* op, int64_t rows) {
  const int64_t size = op->element_size, columns = op->output.cols, tile = 64;
  for (int64_t i0 = 0; i0 < rows; i0 += tile)
    for (int64_t j0 = 0; j0 < columns; j0 += tile)
      for (int64_t i = i0; i < rows && i < i0 + tile; ++i)
        for (int64_t j = j0; j < columns && j < j0 + tile; ++j)
          memcpy(element(&op->output, i, j, size), element(&op->input, j, i, size), (size_t)size);
}

/* c = a b */
static inline void multiply(const trine_gemm* op) {
  for (int64_t i = 0; i < op->c.rows; ++i)
    for (int64_t j = 0; j < op->c.cols; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < op->a.cols; ++k)
        sum = fmaf(*(const float*)element(&op->a, i, k, 4), *(const float*)element(&op->b, k, j, 4),
                   sum);
      *(float*)element(&op->c, i, j, 4) = sum + 0.0F;
    }
}

#endif
