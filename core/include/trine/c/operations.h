/// The three operations on device views, and the choice of the rung that runs them. The C form of
/// <trine/operations.hpp>, which defines the results to the bit.
#pragma once

#include <trine/c/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A reduction: `function` over map(x), for the elements x of `input`; trine::Reduce.
typedef struct trine_reduce_t {
  uint32_t size;
  /// A trine_function (0: TRINE_SUM), a trine_map (0: TRINE_IDENTITY), a trine_axis (0: TRINE_ALL).
  uint32_t function, map, axis;
  /// TRINE_REPRODUCIBLE (0 too) or TRINE_FAST; TRINE_EXACT is as TRINE_REPRODUCIBLE.
  uint32_t numerics;
  /// Zero.
  uint32_t reserved;
  /// `input`: rows x cols, batch 1, any strides. `output`: the results as a vector of 1, input.rows
  /// or input.cols elements, of trine_result_dtype(), or f64 for a sum of f32.
  trine_view_t input, output;
  /// The second input of TRINE_PRODUCT, of the first one's shape and dtype; all zero for other
  /// maps.
  trine_view_t second;
} trine_reduce_t;

/// A transposition: output(b, j, i) = input(b, i, j), bits as they are; trine::Transpose.
typedef struct trine_transpose_t {
  uint32_t size;
  /// Zero.
  uint32_t reserved;
  /// `input`: batch x rows x cols; `output`: batch x cols x rows, of as many bytes an element,
  /// elsewhere. Each has a unit stride along its rows or its columns; an input's may be 0.
  trine_view_t input, output;
} trine_transpose_t;

/// A matrix product: c = alpha * a * b + beta * c; trine::Gemm.
typedef struct trine_gemm_t {
  uint32_t size;
  /// TRINE_REPRODUCIBLE (0 too), TRINE_FAST, or TRINE_EXACT: each element of f32 or f64 is rounded
  /// once, from the real number.
  uint32_t numerics;
  /// Exact in the dtype of the matrices. Neither has another default than 0: with alpha 0, a and b
  /// are not read, with beta 0, c is not.
  double alpha, beta;
  /// m x k, k x n and m x n, of one dtype (f32, f64, i32) and one batch count. Each has a unit
  /// stride along its rows or its columns: a transposed matrix is its strides exchanged.
  trine_view_t a, b, c;
  /// A view with a buffer: its element (1 x 1, in the device's memory) takes the place of alpha or
  /// beta. It is read when the queue comes to the product; trine::Scalar.
  trine_view_t alpha_element, beta_element;
  /// 1: the chains begin at c, and beta is 0; not with TRINE_EXACT. trine::Gemm.
  uint32_t continues;
  /// Zero.
  uint32_t reserved;
} trine_gemm_t;

/// A number, exact in the dtype that it is used with, or an element (1 x 1) of device memory;
/// trine::Scalar. `(trine_scalar_t){.number = 2}` or `(trine_scalar_t){.element = view}`.
typedef struct trine_scalar_t {
  double number;
  /// Without a buffer, `number` counts.
  trine_view_t element;
} trine_scalar_t;

/// The rung that was chosen for a call, and the reason; trine::Choice.
typedef struct trine_choice_t {
  uint32_t size;
  /// A trine_operation, and a trine_numerics: the promise of the rung.
  uint32_t operation, numerics;
  /// The rung's index in trine_device_list_rungs().
  uint32_t rung_index;
  /// The device that runs the call; belongs to this struct.
  const trine_device_t* device;
  /// "sequential:threads=256", and the name alone.
  const char *rung, *rung_name;
  /// The pack that the rung comes from; "" for the backend's own.
  const char* pack;
  /// The reason; and device, rung and reason in one sentence.
  const char *why, *sentence;
} trine_choice_t;

/// Enqueue an operation on `queue`; trine::run(). The results are there after trine_queue_wait().
/// - rung: NULL (Trine chooses), "name", or "name:parameter=value,…": this one runs, or the call is
/// refused.
/// - choice: if not NULL, receives the choice.
/// Errors: TRINE_INVALID_ARGUMENT: buffers, extents, overlap, dtypes, alignment; TRINE_NOT_FOUND:
/// no such rung, parameter or value; TRINE_UNSUPPORTED: the device or the rung can't run it;
/// TRINE_OUT_OF_MEMORY; TRINE_DEVICE_LOST, TRINE_BACKEND_ERROR. Failures of the work itself reach
/// trine_queue_wait().
/// ```c
/// trine_device_t* device;
/// trine_queue_t* queue;
/// trine_buffer_t* buffer;
/// if (trine_device_open("cpu", &device) != TRINE_OK) return 1;
/// if (trine_queue_create(device, &queue) != TRINE_OK) return 1;
/// if (trine_buffer_allocate(device, 101 * sizeof(double), 0, &buffer) != TRINE_OK) return 1;
/// trine_reduce_t sum = {.input = trine_vector(buffer, TRINE_F64, 100, 0),
///                       .output = trine_vector(buffer, TRINE_F64, 1, 100 * sizeof(double))};
/// const double half = 0.5;
/// double total = 0;
/// const trine_choice_t* choice;
/// trine_fill(queue, sum.input, &half);
/// if (trine_run_reduce(queue, &sum, NULL, &choice) != TRINE_OK) return 1;
/// trine_copy_to_host(queue, sum.output, trine_host_vector(&total, TRINE_F64, 1));
/// if (trine_queue_wait(queue) != TRINE_OK || total != 50) return 1;
/// printf("%s\n", choice->sentence);
/// trine_free(choice);
/// trine_buffer_release(buffer);
/// trine_queue_release(queue);
/// trine_device_close(device);
/// ```
TRINE_EXPORT trine_status trine_run_reduce(trine_queue_t* queue, const trine_reduce_t* operation,
                                           const char* rung, const trine_choice_t** choice);
TRINE_EXPORT trine_status trine_run_transpose(trine_queue_t* queue,
                                              const trine_transpose_t* operation, const char* rung,
                                              const trine_choice_t** choice);
TRINE_EXPORT trine_status trine_run_gemm(trine_queue_t* queue, const trine_gemm_t* operation,
                                         const char* rung, const trine_choice_t** choice);
/// The exact dot product of all elements, each row or each column (`axis`, a trine_axis): the
/// reduction of `x` with TRINE_PRODUCT and `y`.
TRINE_EXPORT trine_status trine_run_dot(trine_queue_t* queue, trine_view_t x, trine_view_t y,
                                        trine_view_t output, uint32_t axis, const char* rung,
                                        const trine_choice_t** choice);

/// y = alpha * x + beta * y, element by element; trine::axpby() has the bits. x and y are of one
/// shape and dtype (f32, f64, i32), share no memory or are the same view. Errors as above.
/// ```c
/// trine_device_t* device;
/// trine_queue_t* queue;
/// trine_buffer_t* buffer;
/// if (trine_device_open("cpu", &device) != TRINE_OK) return 1;
/// if (trine_queue_create(device, &queue) != TRINE_OK) return 1;
/// if (trine_buffer_allocate(device, 10 * sizeof(float), 0, &buffer) != TRINE_OK) return 1;
/// const trine_view_t x = trine_vector(buffer, TRINE_F32, 9, 0);
/// const trine_view_t norm = trine_vector(buffer, TRINE_F32, 1, 9 * sizeof(float));
/// const float two = 2;
/// float first = 0;
/// trine_fill(queue, x, &two);
/// trine_run_dot(queue, x, x, norm, 0, NULL, NULL);  // 36
/// const trine_scalar_t number = {.element = norm}, zero = {0};
/// trine_run_scalar(queue, TRINE_SQRT, number, zero, norm);
/// trine_run_axpby(queue, number, x, zero, x);  // x = 6 x
/// trine_copy_to_host(queue, trine_vector(buffer, TRINE_F32, 1, 0),
///                    trine_host_vector(&first, TRINE_F32, 1));
/// if (trine_queue_wait(queue) != TRINE_OK || first != 12) return 1;
/// trine_buffer_release(buffer);
/// trine_queue_release(queue);
/// trine_device_close(device);
/// ```
TRINE_EXPORT trine_status trine_run_axpby(trine_queue_t* queue, trine_scalar_t alpha,
                                          trine_view_t x, trine_scalar_t beta, trine_view_t y);
/// One number from two, or from one; trine::scalar(). `function`: TRINE_ADD, TRINE_SUBTRACT,
/// TRINE_MULTIPLY, TRINE_DIVIDE, or TRINE_SQRT of x alone. `result` is one element of f32 or f64.
TRINE_EXPORT trine_status trine_run_scalar(trine_queue_t* queue, uint32_t function,
                                           trine_scalar_t x, trine_scalar_t y, trine_view_t result);

/// The choice that the functions above would make on `device`; trine::choose(). Nothing runs, and
/// the views need no buffers. Errors as above.
TRINE_EXPORT trine_status trine_choose_reduce(const trine_device_t* device,
                                              const trine_reduce_t* operation, const char* rung,
                                              const trine_choice_t** choice);
TRINE_EXPORT trine_status trine_choose_transpose(const trine_device_t* device,
                                                 const trine_transpose_t* operation,
                                                 const char* rung, const trine_choice_t** choice);
TRINE_EXPORT trine_status trine_choose_gemm(const trine_device_t* device,
                                            const trine_gemm_t* operation, const char* rung,
                                            const trine_choice_t** choice);

#ifdef __cplusplus
}
#endif
