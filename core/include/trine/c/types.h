/// Errors, results and the names of values. <trine/trine.h> says what holds for all functions.
#pragma once

#include <trine/abi.h>
#include <trine/version.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The sentence of the calling thread's last failure: what failed, where, why, and what helps. ""
/// before the first. Valid until the next failure in this thread; a call that succeeds leaves it
/// alone.
TRINE_EXPORT const char* trine_last_error(void);

/// Frees a result that came as a pointer to const: a struct, a list or a text, with everything that
/// it points to. NULL is legal.
TRINE_EXPORT void trine_free(const void* result);

/// The version of the library that is loaded, "0.1.0"; TRINE_VERSION_STRING is that of the headers.
/// A static string.
TRINE_EXPORT const char* trine_get_version(void);

/// The name of a value, as the command line and the JSON write it: "f32", "each_row". A static
/// string; "unknown" for a value outside the enumeration.
TRINE_EXPORT const char* trine_status_name(uint32_t status);
TRINE_EXPORT const char* trine_dtype_name(uint32_t dtype);
TRINE_EXPORT const char* trine_operation_name(uint32_t operation);
TRINE_EXPORT const char* trine_function_name(uint32_t function);
TRINE_EXPORT const char* trine_map_name(uint32_t map);
TRINE_EXPORT const char* trine_axis_name(uint32_t axis);
TRINE_EXPORT const char* trine_numerics_name(uint32_t numerics);

/// The value with this name, the reverse of the functions above. TRINE_NOT_FOUND for another word;
/// the sentence lists the legal ones.
/// ```c
/// uint32_t dtype;
/// if (trine_parse_dtype("f64", &dtype) != TRINE_OK) return 1;
/// printf("%s has %u bytes\n", trine_dtype_name(dtype), (unsigned)trine_dtype_size(dtype));
/// ```
TRINE_EXPORT trine_status trine_parse_dtype(const char* name, uint32_t* dtype);
TRINE_EXPORT trine_status trine_parse_operation(const char* name, uint32_t* operation);
TRINE_EXPORT trine_status trine_parse_function(const char* name, uint32_t* function);
TRINE_EXPORT trine_status trine_parse_map(const char* name, uint32_t* map);
TRINE_EXPORT trine_status trine_parse_axis(const char* name, uint32_t* axis);
TRINE_EXPORT trine_status trine_parse_numerics(const char* name, uint32_t* numerics);

/// The dtype of reduce's results, as trine::result_dtype(): sums and products keep floats and widen
/// integers to 64 bits; min and max keep the dtype, with TRINE_ABS as unsigned; argmin and argmax
/// give TRINE_I64.
TRINE_EXPORT uint32_t trine_result_dtype(uint32_t function, uint32_t map, uint32_t dtype);

#ifdef __cplusplus
}
#endif
