/// Calls on host data: one line computes on the best device and returns when the result is there.
/// The C form of <trine/host.hpp>, which says when large calls are cut into chunks.
///
/// Errors: those of trine_device_open(), the trine_place_… and the trine_run_… functions. A refused
/// call writes nothing. A call that fails later leaves nothing in flight, but may have written a
/// part of the output. Thread safety: any number of calls at a time, as long as no output is
/// shared.
#pragma once

#include <trine/c/place.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A step of a call on host data; trine::HostStep.
typedef struct trine_step_t {
  uint32_t size;
  /// 0: a copy to the device; 1: the operation; 2: a copy from the device.
  uint32_t kind;
  /// The number of the chunk, from 0.
  int32_t chunk;
  /// Zero.
  uint32_t reserved;
  /// Seconds since the call's first step began, by the device's clock.
  double begin, end;
} trine_step_t;
/// The steps of a call on host data; trine::HostTrace.
typedef struct trine_trace_t {
  uint32_t size;
  uint32_t step_count;
  const trine_step_t* const* steps;
  /// Seconds to allocate memory on the device before the first step, by the host's clock.
  double allocation;
} trine_trace_t;

/// Options of every call on host data; NULL or all zero are the defaults. trine::HostOptions.
/// ```c
/// double values[] = {0.5, 0.25}, total;
/// const trine_choice_t* choice;
/// trine_options_t options = {.device = "cpu", .choice = &choice};
/// trine_host_view_t view = trine_host_vector(values, TRINE_F64, 2);
/// if (trine_host_sum(view, &total, &options) != TRINE_OK) return 1;
/// printf("%g: %s\n", total, choice->sentence);
/// trine_free(choice);
/// ```
typedef struct trine_options_t {
  uint32_t size;
  /// The promise that reduce and gemm ask for: TRINE_REPRODUCIBLE (0 too), TRINE_FAST or
  /// TRINE_EXACT.
  uint32_t numerics;
  /// A name that trine_device_open() takes; NULL or "auto": the device that is predicted to be the
  /// fastest.
  const char* device;
  /// A rung as trine_run_…() takes it; NULL: Trine chooses.
  const char* rung;
  /// 1: all host memory of the call is pinned.
  int32_t pinned;
  /// 1: large calls are not cut into chunks that overlap copies with the kernel.
  int32_t no_overlap;
  /// If not 0: at most so many chunks, also of a small call. 0: as many as pay.
  int32_t chunks;
  /// 1: the data is copied also where a device could compute in the host's memory.
  int32_t not_in_place;
  /// If not NULL: receive the choice of the rung; the reason for the device, with "auto", else "";
  /// and the steps with their times. Each is freed by trine_free(). Not set if the call fails.
  const trine_choice_t** choice;
  const char** placement;
  const trine_trace_t** trace;
  /// If not NULL: the call returns before its work is done, and this receives the event that passes
  /// when it is, for trine_event_release(). Until then the program doesn't change the inputs and
  /// doesn't touch the output. trine_event_wait() and trine_event_is_done() report later failures.
  /// Not together with `trace`; trine::HostOptions::event says more.
  trine_event_t** event;
  /// If not NULL: receives the receipt as a line of JSON (docs/receipts.md), freed by trine_free().
  /// Not together with `event`.
  const char** receipt;
  /// 1: the chains of a gemm begin at c, and beta is 0; trine::Gemm.
  uint32_t continues;
  /// Zero.
  uint32_t reserved;
} trine_options_t;

/// One result from all elements of `values`, of f32, f64, i32, i64, u32 or u64, in any layout. It
/// is written to `result`, an object of trine_result_dtype(function, TRINE_IDENTITY, values.dtype):
/// for sum and prod of integers 64 bits, for argmin and argmax int64_t. No elements: 0, 1, the
/// largest or smallest value, -1.
/// - sum: floats exact, rounded once; integers modulo 2^64.
/// - prod: floats by one fixed tree; integers modulo 2^64.
/// - min, max: NaN if there is one. argmin, argmax: the lowest index of the extremum, or of the
///   first NaN, in row-major order of the view.
/// ```c
/// int32_t values[] = {3, 1, 4, 1}, least;
/// int64_t where;
/// trine_host_view_t view = trine_host_vector(values, TRINE_I32, 4);
/// if (trine_host_min(view, &least, NULL) != TRINE_OK) return 1;
/// if (trine_host_argmin(view, &where, NULL) != TRINE_OK) return 1;
/// printf("%d at %d\n", (int)least, (int)where);  // 1 at 1
/// ```
TRINE_EXPORT trine_status trine_host_sum(trine_host_view_t values, void* result,
                                         const trine_options_t* options);
TRINE_EXPORT trine_status trine_host_prod(trine_host_view_t values, void* result,
                                          const trine_options_t* options);
TRINE_EXPORT trine_status trine_host_min(trine_host_view_t values, void* result,
                                         const trine_options_t* options);
TRINE_EXPORT trine_status trine_host_max(trine_host_view_t values, void* result,
                                         const trine_options_t* options);
TRINE_EXPORT trine_status trine_host_argmin(trine_host_view_t values, int64_t* result,
                                            const trine_options_t* options);
TRINE_EXPORT trine_status trine_host_argmax(trine_host_view_t values, int64_t* result,
                                            const trine_options_t* options);
/// Any reduction: `function` (a trine_function; 0: TRINE_SUM) over `map` (a trine_map; 0:
/// TRINE_IDENTITY) of all elements, of each row or of each column (`axis`, a trine_axis; 0:
/// TRINE_ALL). `output` is a vector of the results, as trine_reduce_t has it.
TRINE_EXPORT trine_status trine_host_reduce(uint32_t function, uint32_t map, uint32_t axis,
                                            trine_host_view_t input, trine_host_view_t output,
                                            const trine_options_t* options);
/// The exact dot product, rounded once, of all elements, each row or each column (`axis`; 0: all)
/// of `x` and `y`, of one shape, both f32 or both f64. `output` is a vector of the results.
/// ```c
/// double x[] = {1e20, 3, -1e20}, y[] = {1, 2, 1}, result;
/// trine_status status =
///     trine_host_dot(trine_host_vector(x, TRINE_F64, 3), trine_host_vector(y, TRINE_F64, 3),
///                    trine_host_vector(&result, TRINE_F64, 1), TRINE_ALL, NULL);
/// if (status != TRINE_OK || result != 6) return 1;
/// ```
TRINE_EXPORT trine_status trine_host_dot(trine_host_view_t x, trine_host_view_t y,
                                         trine_host_view_t output, uint32_t axis,
                                         const trine_options_t* options);
/// output(b, j, i) = input(b, i, j), as trine_transpose_t has it. The two share no memory, or are
/// one view of square matrices.
TRINE_EXPORT trine_status trine_host_transpose(trine_host_view_t input, trine_host_view_t output,
                                               const trine_options_t* options);
/// c = alpha * a * b + beta * c, as trine_gemm_t has it.
/// ```c
/// double a[] = {1, 2, 3, 4}, b[] = {0, 1, 1, 0}, c[4];
/// trine_status status = trine_host_gemm(1, trine_host_row_major(a, TRINE_F64, 2, 2),
///                                       trine_host_row_major(b, TRINE_F64, 2, 2), 0,
///                                       trine_host_row_major(c, TRINE_F64, 2, 2), NULL);
/// if (status != TRINE_OK) return 1;
/// printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);  // 2 1 4 3
/// ```
TRINE_EXPORT trine_status trine_host_gemm(double alpha, trine_host_view_t a, trine_host_view_t b,
                                          double beta, trine_host_view_t c,
                                          const trine_options_t* options);
/// The digest of a view's elements in the order (b, i, j), 32 hexadecimal digits, freed by
/// trine_free(): equal elements have equal digests, whatever their strides. trine::digest().
/// ```c
/// float values[] = {1, 2, 3};
/// const char* digest;
/// if (trine_host_digest(trine_host_vector(values, TRINE_F32, 3), &digest) != TRINE_OK) return 1;
/// printf("%s\n", digest);
/// trine_free(digest);
/// ```
TRINE_EXPORT trine_status trine_host_digest(trine_host_view_t view, const char** digest);
/// Frees what the calls above keep for later calls, on all devices: idle queues, workspaces, up to
/// 256 MiB of pinned memory each. Calls in progress are not disturbed.
TRINE_EXPORT trine_status trine_release_idle(void);

#ifdef __cplusplus
}
#endif
