// <trine/c/tuning.h>
#include "layer.hpp"

using namespace trine;
using namespace trine::detail;

namespace trine::detail {

const trine_tuned_t* form(Result& result, const Tuned& from) {
  auto* const to = result.structure<trine_tuned_t>();
  to->call = result.text(from.call);
  to->rung = result.text(from.rung);
  to->seconds = from.seconds;
  to->default_seconds = from.default_seconds;
  to->date = result.text(from.date);
  return to;
}

const trine_tuning_t* form(Result& result, const Tuning& from) {
  auto* const to = result.structure<trine_tuning_t>();
  to->found = from.found;
  to->path = result.text(from.path);
  to->refusal = result.text(from.refusal);
  to->rows = form(result, from.rows);
  to->row_count = from.rows.size();
  return to;
}

}  // namespace trine::detail

namespace {

std::vector<Tuned> rows_of(const trine_tuned_t* const* rows, size_t count) {
  if (!rows && count != 0) refuse("The list of ", count, " rows is null.");
  std::vector<Tuned> values;
  for (size_t i = 0; i < count; ++i) {
    const trine_tuned_t row = read(rows[i], "row of the tuning table");
    values.push_back({std::string(text_of(row.call)), std::string(text_of(row.rung)), row.seconds,
                      row.default_seconds, std::string(text_of(row.date))});
  }
  return values;
}

}  // namespace

trine_status trine_device_get_tuning(const trine_device_t* device, const trine_tuning_t** table) {
  return guard([&] { give(table, tuning(value_of(device))); }, table);
}

#define TRINE_KEY(VALUE, word, ...)                                                               \
  trine_status trine_get_tuning_key_##word(const trine_##word##_t* operation, const char** key) { \
    return guard([&] { give(key, trine::tuning_key(value_of(operation))); }, key);                \
  }
TRINE_OPERATIONS(TRINE_KEY)

trine_status trine_save_tuning(const trine_device_t* device, const trine_tuned_t* const* rows,
                               size_t count, const char** path) {
  return guard([&] { offer(path, save_tuning(value_of(device), rows_of(rows, count))); });
}
trine_status trine_forget_tuning(const trine_device_t* device, const char* call, int* found) {
  return guard([&] {
    const bool was_there = forget_tuning(value_of(device), std::string(text_of(call)));
    if (found) *found = was_there;
  });
}
trine_status trine_forget_all_tuning(const char* const** files, size_t* count) {
  return guard([&] { give(files, count, forget_tuning()); }, files, count);
}
trine_status trine_use_tuning(int on) {
  return guard([&] { use_tuning(on != 0); });
}
int trine_uses_tuning(void) { return uses_tuning(); }
