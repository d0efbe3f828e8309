/// The tuning table: for each device a saved file of the rungs that were measured to be the
/// fastest. The C form of <trine/tuning.hpp>, which says when a row decides and where the files
/// lie.
#pragma once

#include <trine/c/operations.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A row of the table; trine::Tuned.
typedef struct trine_tuned_t {
  uint32_t size;
  /// Zero.
  uint32_t reserved;
  /// The kind and size of the calls, as trine_get_tuning_key_…() writes it.
  const char* call;
  /// The rung as trine_run_…() takes it; "": nothing was faster than the backend's own choice.
  const char* rung;
  /// Measured seconds of the rung, and of the backend's own choice in the same rounds.
  double seconds, default_seconds;
  /// The day of the measurement, "2026-11-21".
  const char* date;
} trine_tuned_t;

/// A device's table as it was found; trine::Tuning.
typedef struct trine_tuning_t {
  uint32_t size;
  /// 1 if the file exists, usable or not.
  uint32_t found;
  /// The file, whether it exists or not; "" where no folder can be used.
  const char* path;
  /// The reason why an existing file isn't used; there are no rows then.
  const char* refusal;
  const trine_tuned_t* const* rows;
  size_t row_count;
} trine_tuning_t;
/// The table of `device`. An unusable file is no error: see `refusal`.
TRINE_EXPORT trine_status trine_device_get_tuning(const trine_device_t* device,
                                                  const trine_tuning_t** tuning);

/// The tuning key of a call: its kind and size, "gemm f32 rrr reproducible 512x512x512x1". The
/// views need no buffers. Errors as trine_run_…().
/// ```c
/// trine_view_t square = trine_row_major(NULL, TRINE_F32, 512, 512, 0);
/// trine_gemm_t product = {.alpha = 1, .a = square, .b = square, .c = square};
/// const char* key;
/// if (trine_get_tuning_key_gemm(&product, &key) != TRINE_OK) return 1;
/// printf("%s\n", key);
/// trine_free(key);
/// ```
TRINE_EXPORT trine_status trine_get_tuning_key_reduce(const trine_reduce_t* operation,
                                                      const char** key);
TRINE_EXPORT trine_status trine_get_tuning_key_transpose(const trine_transpose_t* operation,
                                                         const char** key);
TRINE_EXPORT trine_status trine_get_tuning_key_gemm(const trine_gemm_t* operation,
                                                    const char** key);

/// Adds `count` rows to the device's table and replaces rows of the same call;
/// trine::save_tuning(). This process uses them from now on. `path`, if not NULL, receives the path
/// of the file.
/// Errors: TRINE_INVALID_ARGUMENT for a row that isn't well-formed; TRINE_NOT_FOUND for an unknown
/// rung; TRINE_UNSUPPORTED where no file can be written.
TRINE_EXPORT trine_status trine_save_tuning(const trine_device_t* device,
                                            const trine_tuned_t* const* rows, size_t count,
                                            const char** path);
/// Removes the row of `call` from the device's table. `found`, if not NULL, is set to 0 where there
/// is no such row, else to 1. TRINE_UNSUPPORTED where the file can't be written.
TRINE_EXPORT trine_status trine_forget_tuning(const trine_device_t* device, const char* call,
                                              int* found);
/// Removes the tables of all devices and lists the removed files.
TRINE_EXPORT trine_status trine_forget_all_tuning(const char* const** files, size_t* count);
/// Lets this process use the tables (1) or ignore them (0), and says whether it uses them. The
/// initial value is 1, or 0 with TRINE_TUNING=off.
TRINE_EXPORT trine_status trine_use_tuning(int on);
TRINE_EXPORT int trine_uses_tuning(void);

#ifdef __cplusplus
}
#endif
