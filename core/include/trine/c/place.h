/// Where to run: the decision behind "auto", the measurements that it uses, and the sizes from
/// which another device is faster. The C form of <trine/place.hpp>.
#pragma once

#include <trine/c/operations.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The place of an operation's data when the call begins; trine::Where.
typedef enum trine_where_t {
  /// Pageable host memory.
  TRINE_WHERE_HOST = 1,
  /// Pinned host memory, copied in before the kernel and out after it.
  TRINE_WHERE_HOST_PINNED = 2,
  /// The buffers of the operation's views. The operation runs on their device.
  TRINE_WHERE_DEVICE = 3,
  /// Pinned host memory, where copies and kernel overlap as in calls on host data.
  TRINE_WHERE_HOST_PIPELINED = 4
} trine_where_t;

/// A device that was weighed; trine::Candidate.
typedef struct trine_candidate_t {
  uint32_t size;
  /// Whether the prediction comes from a calibration: 1 or 0.
  uint32_t calibrated;
  /// Belongs to the placement.
  const trine_device_t* device;
  /// Predicted seconds of one run, and the part of them that moves data.
  double seconds, transfers;
  /// The range of the calibration's samples, in seconds; both are `seconds` without a calibration.
  double low, high;
  /// The origin of the prediction, in words.
  const char* source;
} trine_candidate_t;

/// The decision; trine::Placement.
typedef struct trine_placement_t {
  uint32_t size;
  /// The number of candidates; 0 where nothing had to be predicted.
  uint32_t candidate_count;
  /// All devices that were weighed, the fastest first.
  const trine_candidate_t* const* candidates;
  /// The device to run on; belongs to this struct.
  const trine_device_t* device;
  /// The rung that it would choose.
  const trine_choice_t* choice;
  /// Predicted seconds of one run.
  double seconds;
  /// The reason in words, with the numbers.
  const char* sentence;
} trine_placement_t;

/// Choose the device on which `operation` is predicted to take the least time; trine::place().
/// - operation: its views need shapes, strides and dtypes, and buffers for TRINE_WHERE_DEVICE only.
/// - where: a trine_where_t. repeats: how many runs share one transfer, at least 1.
/// - among, count: the candidates; count 0: those that trine::place() takes. The first call may
///   open them and measure their roofs (about 50 ms each).
/// Errors: as trine_run_…(), with the reason for each candidate where none can run it.
/// ```c
/// trine_view_t square = trine_row_major(NULL, TRINE_F32, 64, 64, 0);
/// trine_gemm_t product = {.alpha = 1, .a = square, .b = square, .c = square};
/// const trine_placement_t* placement;
/// if (trine_place_gemm(&product, TRINE_WHERE_HOST, 1, NULL, 0, &placement) != TRINE_OK) return 1;
/// trine_queue_t* queue;
/// if (trine_queue_create(placement->device, &queue) != TRINE_OK) return 1;
/// printf("%s\n", placement->sentence);
/// trine_queue_release(queue);
/// trine_free(placement);
/// ```
TRINE_EXPORT trine_status trine_place_reduce(const trine_reduce_t* operation, uint32_t where,
                                             int repeats, const trine_device_t* const* among,
                                             size_t count, const trine_placement_t** placement);
TRINE_EXPORT trine_status trine_place_transpose(const trine_transpose_t* operation, uint32_t where,
                                                int repeats, const trine_device_t* const* among,
                                                size_t count, const trine_placement_t** placement);
TRINE_EXPORT trine_status trine_place_gemm(const trine_gemm_t* operation, uint32_t where,
                                           int repeats, const trine_device_t* const* among,
                                           size_t count, const trine_placement_t** placement);

/// A device's measured rates; trine::Roofs.
typedef struct trine_roofs_t {
  uint32_t size;
  /// Zero.
  uint32_t reserved;
  /// The device's memory in bytes/s: copying (read plus written), and reading.
  double copy, read;
  /// flop/s of gemm, two per multiply-add; 0: no f64 here.
  double fma_f32, fma_f64;
  /// Copies in bytes/s between the host and the device: pageable memory, then pinned.
  double to_device, to_host, to_device_pinned, to_host_pinned;
  /// Seconds of the smallest operation, from enqueueing to completion.
  double launch;
} trine_roofs_t;
/// The measured rates of `device`; trine::roofs(). The first call for a device measures for about
/// 50 ms.
TRINE_EXPORT trine_status trine_device_get_roofs(const trine_device_t* device,
                                                 const trine_roofs_t** roofs);

/// Options of trine_calibrate(); all zero is the default.
typedef struct trine_calibrate_options_t {
  uint32_t size;
  /// Every figure is the median of so many measurements at different times; 0: 3.
  int32_t rounds;
  /// If not NULL, is called before each measurement with `context`, a description, and the share (0
  /// to 1) of the work that is done. Returning 0 ends the calibration; completed rounds count.
  int (*proceed)(void* context, const char* what, double done);
  void* context;
  /// 1: only this process uses the result. 0: it is saved for later ones too.
  int32_t dont_save;
  /// Zero.
  uint32_t reserved;
} trine_calibrate_options_t;
/// The result of trine_calibrate().
typedef struct trine_calibrated_t {
  uint32_t size;
  /// The number of completed rounds. 0: it ended too early, nothing was learned or saved.
  uint32_t rounds;
  /// The saved files, one for each device.
  const char* const* files;
  size_t file_count;
} trine_calibrated_t;
/// Measures all `devices` alternately, as trine::calibrate() and `trine calibrate` do; takes
/// minutes. `options` may be NULL. Errors: TRINE_UNSUPPORTED where no file can be written;
/// TRINE_INVALID_ARGUMENT for negative rounds.
/// ```c
/// // Takes minutes.
/// trine_device_t* cpu;
/// const trine_calibrated_t* calibrated;
/// if (trine_device_open("cpu", &cpu) != TRINE_OK) return 1;
/// const trine_device_t* devices[] = {cpu};
/// if (trine_calibrate(devices, 1, NULL, &calibrated) != TRINE_OK) return 1;
/// printf("%s\n", calibrated->files[0]);
/// trine_free(calibrated);
/// trine_device_close(cpu);
/// ```
TRINE_EXPORT trine_status trine_calibrate(const trine_device_t* const* devices, size_t count,
                                          const trine_calibrate_options_t* options,
                                          const trine_calibrated_t** calibrated);
/// The basis of predictions for `device`: "calibrated on <date>", or "not calibrated" with the
/// reason why an existing file isn't used; trine::calibration().
TRINE_EXPORT trine_status trine_device_get_calibration(const trine_device_t* device,
                                                       const char** calibration);

/// A size at which the faster of two devices changes; trine::Crossing.
typedef struct trine_crossing_t {
  uint32_t size;
  /// A trine_operation, a trine_function (of a reduction), a trine_dtype, a trine_where_t.
  uint32_t operation, function, dtype, where;
  /// 1: there is no such size, `below` is at least as fast at every size; and whether that is sure.
  uint32_t never, sure;
  /// Zero.
  uint32_t reserved;
  /// The device that is faster below the size, and the one above; belong to the list.
  const trine_device_t *below, *above;
  /// The estimate n and its interval: a reduction of n elements, a transpose of n x n, a gemm of n
  /// x n x n.
  int64_t extent, low, high;
  /// The same in words.
  const char* sentence;
} trine_crossing_t;
/// The break-even sizes of two devices, from small to large; one entry with `never` where there is
/// none; trine::break_even(). `function` matters for TRINE_REDUCE only.
TRINE_EXPORT trine_status trine_list_break_even(uint32_t operation, uint32_t function,
                                                uint32_t dtype, uint32_t where,
                                                const trine_device_t* first,
                                                const trine_device_t* second,
                                                const trine_crossing_t* const** crossings,
                                                size_t* count);

#ifdef __cplusplus
}
#endif
