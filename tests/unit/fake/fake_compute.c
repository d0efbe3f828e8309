/* The operations, and elementwise commands, as plain loops over doubles: enough for small whole
 * numbers. */
#include <string.h>

#include <trine/lists.h>

#include "fake_parts.h"

static char* at(const trine_view* view, int64_t batch, int64_t row, int64_t column, uint64_t size) {
  return (char*)view->memory + view->offset +
         size * (uint64_t)(batch * view->batch_stride + row * view->row_stride +
                           column * view->col_stride);
}

static double read(const trine_view* view, int64_t batch, int64_t row, int64_t column,
                   uint32_t dtype) {
  const char* from = at(view, batch, row, column, trine_dtype_size(dtype));
  float f32;
  double f64;
  int32_t i32;
  int64_t i64;
  switch (dtype) {
    case TRINE_F32: memcpy(&f32, from, 4); return f32;
    case TRINE_F64: memcpy(&f64, from, 8); return f64;
    case TRINE_I32: memcpy(&i32, from, 4); return i32;
    default: memcpy(&i64, from, 8); return (double)i64;
  }
}
static void write(const trine_view* view, int64_t batch, int64_t row, int64_t column,
                  uint32_t dtype, double value) {
  char* to = at(view, batch, row, column, trine_dtype_size(dtype));
  const float f32 = (float)value;
  const int32_t i32 = (int32_t)value;
  const int64_t i64 = (int64_t)value;
  switch (dtype) {
    case TRINE_F32: memcpy(to, &f32, 4); break;
    case TRINE_F64: memcpy(to, &value, 8); break;
    case TRINE_I32: memcpy(to, &i32, 4); break;
    default: memcpy(to, &i64, 8); break;
  }
}

static void reduce(const trine_reduce* op) {
  const int64_t results = op->output.rows;
  for (int64_t r = 0; r < results; ++r) {
    double total = 0;
    const int64_t row_first = op->axis == TRINE_EACH_ROW ? r : 0;
    const int64_t row_last = op->axis == TRINE_EACH_ROW ? r + 1 : op->input.rows;
    const int64_t col_first = op->axis == TRINE_EACH_COLUMN ? r : 0;
    const int64_t col_last = op->axis == TRINE_EACH_COLUMN ? r + 1 : op->input.cols;
    for (int64_t i = row_first; i < row_last; ++i) {
      for (int64_t j = col_first; j < col_last; ++j)
        total += read(&op->input, 0, i, j, op->dtype) *
                 (op->map == TRINE_PRODUCT ? read(&op->second, 0, i, j, op->dtype) : 1);
    }
    write(&op->output, 0, r, 0, op->result_dtype, total);
  }
}
static void transpose(const trine_transpose* op) {
  for (int64_t b = 0; b < op->input.batch; ++b) {
    for (int64_t i = 0; i < op->input.rows; ++i) {
      for (int64_t j = 0; j < op->input.cols; ++j) {
        memcpy(at(&op->output, b, j, i, op->element_size),
               at(&op->input, b, i, j, op->element_size), op->element_size);
      }
    }
  }
}
static double scalar(const trine_scalar* value, uint32_t dtype) {
  return dtype == TRINE_F32 ? value->f32 : dtype == TRINE_F64 ? value->f64 : value->i32;
}
static void gemm(const trine_gemm* op) {
  for (int64_t b = 0; b < op->c.batch; ++b) {
    for (int64_t i = 0; i < op->c.rows; ++i) {
      for (int64_t j = 0; j < op->c.cols; ++j) {
        double total = trine_continues(op) ? read(&op->c, b, i, j, op->dtype) : 0;
        for (int64_t k = 0; k < op->a.cols; ++k) {
          total += read(&op->a, b, i, k, op->dtype) * read(&op->b, b, k, j, op->dtype);
        }
        total *= scalar(&op->alpha, op->dtype);
        const double beta = scalar(&op->beta, op->dtype);
        if (beta != 0) total += beta * read(&op->c, b, i, j, op->dtype);
        write(&op->c, b, i, j, op->dtype, total);
      }
    }
  }
}

void fake_compute(const trine_call* call) {
  switch (call->operation) {
#define TRINE_COMPUTE(VALUE, word, ...) \
  case TRINE_##VALUE: word(call->descriptor); break;
    TRINE_OPERATIONS(TRINE_COMPUTE)
#undef TRINE_COMPUTE
  }
}

static double number(const trine_number* n, uint32_t dtype) {
  const trine_view one = {n->memory, n->offset, 1, 1, 1, 1, 1, 0};
  return n->memory ? read(&one, 0, 0, 0, dtype) : scalar(&n->value, dtype);
}
void fake_elementwise(const trine_elementwise* call) {
  const double p = number(&call->p, call->dtype), q = number(&call->q, call->dtype);
  if (call->function != TRINE_AXPBY) { /* what the tests ask for */
    write(&call->out, 0, 0, 0, call->dtype, call->function == TRINE_DIVIDE ? p / q : p + q);
    return;
  }
  for (int64_t b = 0; b < call->out.batch; ++b)
    for (int64_t i = 0; i < call->out.rows; ++i)
      for (int64_t j = 0; j < call->out.cols; ++j) {
        const double t = q != 0 ? q * read(&call->v, b, i, j, call->dtype) : 0;
        write(&call->out, b, i, j, call->dtype,
              p != 0 ? p * read(&call->u, b, i, j, call->dtype) + t : t);
      }
}
