// <trine/c/types.h>
#include "layer.hpp"

using namespace trine;
using namespace trine::detail;

namespace {
trine_status parse(auto word_of, const char* text, uint32_t* value) {
  return guard([&] { *value = uint32_t(word_of(text_of(text))); }, value);
}
}  // namespace

const char* trine_last_error(void) { return last_sentence(); }
void trine_free(const void* result) { Result::free(result); }
const char* trine_get_version(void) { return version(); }

// The names are literals, so their texts end with a zero.
const char* trine_status_name(uint32_t v) { return name(Status(v)).data(); }
const char* trine_dtype_name(uint32_t v) { return name(Dtype(v)).data(); }
const char* trine_operation_name(uint32_t v) { return name(Operation(v)).data(); }
const char* trine_function_name(uint32_t v) { return name(Function(v)).data(); }
const char* trine_map_name(uint32_t v) { return name(Map(v)).data(); }
const char* trine_axis_name(uint32_t v) { return name(Axis(v)).data(); }
const char* trine_numerics_name(uint32_t v) { return name(Numerics(v)).data(); }

trine_status trine_parse_dtype(const char* name, uint32_t* dtype) {
  return parse(parse_dtype, name, dtype);
}
trine_status trine_parse_operation(const char* name, uint32_t* operation) {
  return parse(parse_operation, name, operation);
}
trine_status trine_parse_function(const char* name, uint32_t* function) {
  return parse(parse_function, name, function);
}
trine_status trine_parse_map(const char* name, uint32_t* map) {
  return parse(parse_map, name, map);
}
trine_status trine_parse_axis(const char* name, uint32_t* axis) {
  return parse(parse_axis, name, axis);
}

uint32_t trine_result_dtype(uint32_t function, uint32_t map, uint32_t dtype) {
  return uint32_t(result_dtype(Function(function), Map(map), Dtype(dtype)));
}
