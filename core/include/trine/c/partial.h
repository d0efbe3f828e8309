/// Reductions in parts: what threads, ranks or files have seen of one array becomes the result of
/// the whole, to the bit. The C form of <trine/partial.hpp>.
///
/// Errors: those of trine_host_reduce() and trine_run_reduce(), and TRINE_INVALID_ARGUMENT for a
/// struct whose words are no state; the struct is then what it was before. Thread safety:
/// concurrent calls need structs of their own.
#pragma once

#include <trine/c/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/// 64-bit words of a state.
#define TRINE_PARTIAL_WORDS 256

/// The state of a reduction, which <trine/partial.hpp> describes: it may be stored, sent, compared
/// by memcmp(), and read on any little-endian machine.
/// ```c
/// double left[] = {3, 1, 4}, right[] = {1, 5};
/// trine_partial_t smallest, rest;
/// int64_t index;
/// trine_status status = trine_partial_init(&smallest, TRINE_ARGMIN, TRINE_IDENTITY, TRINE_F64);
/// rest = smallest;
/// if (status == TRINE_OK)
///   status = trine_partial_add(&smallest, trine_host_vector(left, TRINE_F64, 3), 0, NULL);
/// if (status == TRINE_OK)
///   status = trine_partial_add(&rest, trine_host_vector(right, TRINE_F64, 2), 3, NULL);
/// if (status == TRINE_OK) status = trine_partial_merge(&smallest, &rest);
/// if (status == TRINE_OK) status = trine_partial_result(&smallest, TRINE_I64, &index);
/// if (status != TRINE_OK || index != 1) return 1;
/// ```
typedef struct trine_partial_t {
  uint64_t state[TRINE_PARTIAL_WORDS];
} trine_partial_t;

/// Makes the reduction of nothing. A trine_function, a trine_map (0: TRINE_IDENTITY; not
/// TRINE_PRODUCT, which is trine_exact_sum_add_dot()), and the trine_dtype of the elements.
TRINE_EXPORT trine_status trine_partial_init(trine_partial_t* partial, uint32_t function,
                                             uint32_t map, uint32_t dtype);
/// Adds a part of the whole in host memory, whose elements have the indices `first`, first + 1, …
/// of the whole, row by row. The options take no event.
TRINE_EXPORT trine_status trine_partial_add(trine_partial_t* partial, trine_host_view_t part,
                                            int64_t first, const trine_options_t* options);
/// The same of device memory, after the queue's earlier operations. The call waits for it.
TRINE_EXPORT trine_status trine_partial_add_on_queue(trine_partial_t* partial, trine_queue_t* queue,
                                                     trine_view_t part, int64_t first);
/// Adds the elements of `other`, which has the same function, map and dtype. Where indices matter,
/// they must be other elements than those of `partial`: a product of floats refuses elements that
/// both have. It also refuses parts with too many gaps between them.
TRINE_EXPORT trine_status trine_partial_merge(trine_partial_t* partial,
                                              const trine_partial_t* other);
/// Writes the result, one element of `dtype`: trine_result_dtype() of the function, the map and the
/// elements' dtype; for a sum of f32 also TRINE_F64. Errors: another dtype; a product of floats
/// that lacks elements before its last one.
TRINE_EXPORT trine_status trine_partial_result(const trine_partial_t* partial, uint32_t dtype,
                                               void* value);

#ifdef __cplusplus
}
#endif
