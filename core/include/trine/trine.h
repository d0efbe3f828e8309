/// The C API of Trine, in C11: all of the C++ API over opaque handles. docs/c-and-fortran.md is its
/// guide.
/// ```c
/// float values[] = {1e30f, 1, -1e30f, 2}, total;
/// if (trine_host_sum(trine_host_vector(values, TRINE_F32, 4), &total, NULL) != TRINE_OK) {
///   fprintf(stderr, "%s\n", trine_last_error());
///   return 1;
/// }
/// printf("%g\n", total);  // 3: exact, rounded once
/// ```
///
/// Names. Types end in _t, functions contain a verb (trine_queue_create, trine_run_gemm) or the
/// word `host` for a call on host data (trine_host_gemm). So they differ from the types of backends
/// (trine_gemm, trine_queue) in <trine/ops.h> and <trine/abi.h>, which this header includes for
/// their enumerations: TRINE_F32, TRINE_MEMORY_PINNED. Those are passed as uint32_t.
///
/// Errors. A function that can fail returns a trine_status. After a failure trine_last_error() has
/// the sentence, the arguments for results are as they were, and a refused call has written
/// nothing. The statuses, sentences and reasons are those of the C++ function that the comment
/// names. A handle that is NULL is an empty C++ handle. NULL in the place of a result that isn't
/// optional: TRINE_INVALID_ARGUMENT.
///
/// Memory. The caller releases what it gets: a handle by the function for its type, everything that
/// comes as a pointer to const (structs, lists, texts) by one trine_free(). Texts that are passed
/// in are only read during the call; NULL stands for "".
///
/// Growth. A struct whose first field is `size` may get more fields at its end in a later version.
/// A caller sets `size` to sizeof the struct, or to 0, which stands for its size in version 0.1. In
/// structs that the library gives, it says how much the library has filled in. Lists are arrays of
/// pointers, so that they don't depend on the size. A field that is 0 or NULL means the default
/// that its comment names.
///
/// Thread safety: all functions may be called from any thread. One handle may be used by several
/// threads at a time, but not while one of them releases it.
///
/// The headers have the parts and the order of the C++ ones:
/// - c/types.h: errors, results, the names of values
/// - c/device.h: the devices and their rungs
/// - c/queue.h: queues and events
/// - c/buffer.h: memory, views, copies
/// - c/operations.h: reduce, transpose, gemm on device views
/// - c/place.h: where to run, calibration
/// - c/host.h: one-line calls on host data
/// - c/exact_sum.h: exact sums in parts; c/partial.h: any reduction in parts
/// - c/tuning.h: the saved tuning table
#pragma once

#include <trine/c/exact_sum.h>
#include <trine/c/partial.h>
#include <trine/c/tuning.h>
