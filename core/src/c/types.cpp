// <trine/c/types.h>
#include "layer.hpp"

using namespace trine;
using namespace trine::detail;

const char* trine_last_error(void) { return last_sentence(); }
void trine_free(const void* result) { Result::free(result); }
const char* trine_get_version(void) { return version(); }

// The names are literals, so their texts end with a zero.
const char* trine_status_name(uint32_t v) { return name(Status(v)).data(); }
#define TRINE_NAMES_OF(kind, Kind)                                                \
  const char* trine_##kind##_name(uint32_t v) { return name(Kind(v)).data(); }    \
  trine_status trine_parse_##kind(const char* text, uint32_t* value) {            \
    return guard([&] { *value = uint32_t(parse_##kind(text_of(text))); }, value); \
  }
TRINE_NAMES_OF(dtype, Dtype)
TRINE_NAMES_OF(operation, Operation)
TRINE_NAMES_OF(function, Function)
TRINE_NAMES_OF(map, Map)
TRINE_NAMES_OF(axis, Axis)
TRINE_NAMES_OF(numerics, Numerics)

uint32_t trine_result_dtype(uint32_t function, uint32_t map, uint32_t dtype) {
  return uint32_t(result_dtype(Function(function), Map(map), Dtype(dtype)));
}
