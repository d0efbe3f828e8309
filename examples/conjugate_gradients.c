/* Conjugate gradients on a device, in C: conjugate_gradients.cpp has the same steps and the
 * comments on them, and gives the same bits.
 *
 *   conjugate_gradients_c [DEVICE]     "cpu" by default
 */
#include <stdio.h>
#include <stdlib.h>
#include <trine/trine.h>

enum { kSize = 500, kSteps = 12 };

/* Handles are given back when the process ends; a program that goes on releases them. */
#define TRY(call)                                  \
  do {                                             \
    if ((call) != TRINE_OK) {                      \
      fprintf(stderr, "%s\n", trine_last_error()); \
      exit(1);                                     \
    }                                              \
  } while (0)

static trine_device_t* device;
static trine_queue_t* queue;

static trine_view_t make(int64_t rows, int64_t cols) {
  trine_buffer_t* buffer;
  TRY(trine_buffer_allocate(device, (uint64_t)(rows * cols) * sizeof(double), 0, &buffer));
  return trine_row_major(buffer, TRINE_F64, rows, cols, 0);
}
static trine_scalar_t number(double value) { return (trine_scalar_t){.number = value}; }
static trine_scalar_t element(trine_view_t view) { return (trine_scalar_t){.element = view}; }

static void dot(trine_view_t x, trine_view_t y, trine_view_t result) {
  TRY(trine_run_dot(queue, x, y, result, TRINE_ALL, NULL, NULL));
}
static void divide(trine_view_t x, trine_view_t y, trine_view_t result) {
  TRY(trine_run_scalar(queue, TRINE_DIVIDE, element(x), element(y), result));
}
static void axpby(trine_scalar_t alpha, trine_view_t x, trine_scalar_t beta, trine_view_t y) {
  TRY(trine_run_axpby(queue, alpha, x, beta, y));
}

int main(int count, char** arguments) {
  const char* const name = count > 1 ? arguments[1] : "cpu";
  TRY(trine_device_open(name, &device));
  TRY(trine_queue_create(device, &queue));

  static double values[kSize][kSize];
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) values[i][j] = i == j ? kSize : 1.0 / (1 + abs(i - j));
  const double zero = 0, one = 1;
  const trine_view_t a = make(kSize, kSize), x = make(kSize, 1), r = make(kSize, 1);
  const trine_view_t p = make(kSize, 1), q = make(kSize, 1), scaled = make(kSize, 1);
  const trine_view_t step = make(1, 1), curvature = make(1, 1), ratio = make(1, 1);
  const trine_view_t history = make(kSteps + 1, 1);
  trine_view_t rr[kSteps + 1];
  for (int i = 0; i <= kSteps; ++i)
    rr[i] = trine_vector(history.buffer, TRINE_F64, 1, (uint64_t)i * sizeof(double));

  TRY(trine_copy_to_device(queue, trine_host_row_major(values, TRINE_F64, kSize, kSize), a));
  TRY(trine_fill(queue, x, &zero));
  TRY(trine_fill(queue, r, &one));
  TRY(trine_fill(queue, p, &one));
  dot(r, r, rr[0]);
  for (int i = 0; i < kSteps; ++i) {
    const trine_gemm_t product = {.alpha = 1, .a = a, .b = p, .c = q};
    TRY(trine_run_gemm(queue, &product, NULL, NULL));
    dot(p, q, curvature);
    divide(rr[i], curvature, step);
    axpby(element(step), p, number(0), scaled);
    axpby(number(1), scaled, number(1), x);
    axpby(element(step), q, number(0), scaled);
    axpby(number(-1), scaled, number(1), r);
    dot(r, r, rr[i + 1]);
    divide(rr[i + 1], rr[i], ratio);
    axpby(number(1), r, element(ratio), p);
  }
  double residuals[kSteps + 1];
  TRY(trine_copy_to_host(queue, history, trine_host_vector(residuals, TRINE_F64, kSteps + 1)));
  TRY(trine_queue_wait(queue)); /* the only one */

  printf("%s\n", name);
  for (int i = 0; i <= kSteps; ++i) printf("  %.16e\n", residuals[i]);
  return residuals[kSteps] < 1e-20 * residuals[0] ? 0 : 1;
}
