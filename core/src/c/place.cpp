// <trine/c/place.h>
#include "layer.hpp"

using namespace trine;
using namespace trine::detail;

static_assert(TRINE_WHERE_HOST == trine_where_t(Where::host));
static_assert(TRINE_WHERE_HOST_PINNED == trine_where_t(Where::host_pinned));
static_assert(TRINE_WHERE_DEVICE == trine_where_t(Where::device));
static_assert(TRINE_WHERE_HOST_PIPELINED == trine_where_t(Where::host_pipelined));

namespace trine::detail {

const trine_candidate_t* form(Result& result, const Candidate& from) {
  auto* const to = result.structure<trine_candidate_t>();
  to->calibrated = from.calibrated;
  to->device = result.device(from.device);
  to->seconds = from.seconds;
  to->transfers = from.transfers;
  to->low = from.low;
  to->high = from.high;
  to->source = result.text(from.source);
  return to;
}

const trine_placement_t* form(Result& result, const Placement& from) {
  auto* const to = result.structure<trine_placement_t>();
  to->candidate_count = uint32_t(from.candidates.size());
  to->candidates = form(result, from.candidates);
  to->device = result.device(from.device);
  to->choice = form(result, from.choice);
  to->seconds = from.seconds;
  to->sentence = result.text(from.sentence);
  return to;
}

const trine_roofs_t* form(Result& result, const Roofs& from) {
  auto* const to = result.structure<trine_roofs_t>();
  to->copy = from.copy;
  to->read = from.read;
  to->fma_f32 = from.fma_f32;
  to->fma_f64 = from.fma_f64;
  to->to_device = from.to_device;
  to->to_host = from.to_host;
  to->to_device_pinned = from.to_device_pinned;
  to->to_host_pinned = from.to_host_pinned;
  to->launch = from.launch;
  return to;
}

const trine_calibrated_t* form(Result& result, const Calibrated& from) {
  auto* const to = result.structure<trine_calibrated_t>();
  to->rounds = uint32_t(from.rounds);
  to->files = form(result, from.files);
  to->file_count = from.files.size();
  return to;
}

const trine_crossing_t* form(Result& result, const Crossing& from) {
  auto* const to = result.structure<trine_crossing_t>();
  to->operation = uint32_t(from.operation);
  to->function = uint32_t(from.function);
  to->dtype = uint32_t(from.dtype);
  to->where = uint32_t(from.where);
  to->never = from.never;
  to->sure = from.sure;
  to->below = result.device(from.below);
  to->above = result.device(from.above);
  to->extent = from.size;
  to->low = from.low;
  to->high = from.high;
  to->sentence = result.text(from.sentence);
  return to;
}

}  // namespace trine::detail

namespace {

CalibrateOptions options_of(const trine_calibrate_options_t* given) {
  CalibrateOptions options;
  if (!given) return options;
  const trine_calibrate_options_t c = read(given, "options of a calibration");
  if (c.rounds != 0) options.rounds = c.rounds;
  options.save = c.dont_save == 0;
  if (c.proceed)
    options.proceed = [c](std::string_view what, double done) {
      return c.proceed(c.context, std::string(what).c_str(), done) != 0;
    };
  return options;
}

}  // namespace

#define TRINE_PLACE(VALUE, word, ...)                                                             \
  trine_status trine_place_##word(const trine_##word##_t* operation, uint32_t where, int repeats, \
                                  const trine_device_t* const* among, size_t count,               \
                                  const trine_placement_t** placement) {                          \
    return guard(                                                                                 \
        [&] {                                                                                     \
          give(placement,                                                                         \
               place(value_of(operation), Where(where), repeats, values_of(among, count)));       \
        },                                                                                        \
        placement);                                                                               \
  }
TRINE_OPERATIONS(TRINE_PLACE)

trine_status trine_device_get_roofs(const trine_device_t* device, const trine_roofs_t** measured) {
  return guard([&] { give(measured, roofs(value_of(device))); }, measured);
}

trine_status trine_calibrate(const trine_device_t* const* devices, size_t count,
                             const trine_calibrate_options_t* options,
                             const trine_calibrated_t** calibrated) {
  return guard([&] { give(calibrated, calibrate(values_of(devices, count), options_of(options))); },
               calibrated);
}
trine_status trine_device_get_calibration(const trine_device_t* device, const char** basis) {
  return guard([&] { give(basis, calibration(value_of(device))); }, basis);
}

trine_status trine_list_break_even(uint32_t operation, uint32_t function, uint32_t dtype,
                                   uint32_t where, const trine_device_t* first,
                                   const trine_device_t* second,
                                   const trine_crossing_t* const** crossings, size_t* count) {
  return guard(
      [&] {
        give(crossings, count,
             break_even(Operation(operation), value_or(function, Function::sum), Dtype(dtype),
                        Where(where), value_of(first), value_of(second)));
      },
      crossings, count);
}
