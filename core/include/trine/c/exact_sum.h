/// Exact sums in parts: what threads, files or machines have added becomes one sum with the bits of
/// the whole. The C form of <trine/exact_sum.hpp>.
///
/// Errors: those of trine_host_reduce() and trine_run_reduce(), and TRINE_INVALID_ARGUMENT for a
/// struct whose words are no state; the sum is then what it was before. Thread safety: concurrent
/// calls need sums of their own.
#pragma once

#include <trine/c/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A sum's state, which <trine/ops.h> describes: it may be stored, sent, compared by memcmp(), and
/// read on any little-endian machine. All zero is the sum of nothing.
/// ```c
/// double first[] = {1e100, 1}, second[] = {-1e100, 2}, value;
/// trine_exact_sum_t total = {{0}}, rest = {{0}};
/// const trine_host_view_t x = trine_host_vector(first, TRINE_F64, 2);
/// const trine_host_view_t y = trine_host_vector(second, TRINE_F64, 2);
/// trine_status status = trine_exact_sum_add(&total, TRINE_IDENTITY, x, NULL);
/// if (status == TRINE_OK)
///   status = trine_exact_sum_add(&rest, TRINE_IDENTITY, y, NULL);
/// if (status == TRINE_OK) status = trine_exact_sum_merge(&total, &rest);
/// if (status == TRINE_OK) status = trine_exact_sum_to_f64(&total, &value);
/// if (status != TRINE_OK || value != 3) return 1;
/// ```
typedef struct trine_exact_sum_t {
  uint64_t state[TRINE_EXACT_WORDS];
} trine_exact_sum_t;

/// Adds map(x) for all elements of host memory, f32 or f64, or x * y of two views of one shape and
/// dtype. `map`: a trine_map; 0: TRINE_IDENTITY. The options take no event.
TRINE_EXPORT trine_status trine_exact_sum_add(trine_exact_sum_t* sum, uint32_t map,
                                              trine_host_view_t x, const trine_options_t* options);
TRINE_EXPORT trine_status trine_exact_sum_add_dot(trine_exact_sum_t* sum, trine_host_view_t x,
                                                  trine_host_view_t y,
                                                  const trine_options_t* options);
/// The same of device memory, after the queue's earlier operations. The call waits for the state
/// that comes back.
TRINE_EXPORT trine_status trine_exact_sum_add_on_queue(trine_exact_sum_t* sum, trine_queue_t* queue,
                                                       uint32_t map, trine_view_t x);
TRINE_EXPORT trine_status trine_exact_sum_add_dot_on_queue(trine_exact_sum_t* sum,
                                                           trine_queue_t* queue, trine_view_t x,
                                                           trine_view_t y);
/// Adds the terms of `other`, which may be `sum` itself. It is an error if the sum would leave
/// +-2^2175, 2^127 times the largest product of two doubles; `sum` is then what it was before.
TRINE_EXPORT trine_status trine_exact_sum_merge(trine_exact_sum_t* sum,
                                                const trine_exact_sum_t* other);
/// The sum, rounded once; trine::ExactSum::round().
TRINE_EXPORT trine_status trine_exact_sum_to_f32(const trine_exact_sum_t* sum, float* value);
TRINE_EXPORT trine_status trine_exact_sum_to_f64(const trine_exact_sum_t* sum, double* value);

#ifdef __cplusplus
}
#endif
