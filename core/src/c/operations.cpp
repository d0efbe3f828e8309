// <trine/c/operations.h>
#include "layer.hpp"

using namespace trine;
using namespace trine::detail;

namespace trine::detail {

const trine_choice_t* form(Result& result, const Choice& from) {
  auto* const to = result.structure<trine_choice_t>();
  to->operation = uint32_t(from.operation);
  to->numerics = uint32_t(from.numerics);
  to->rung_index = from.rung_index;
  to->device = result.device(from.device);
  to->rung = result.text(from.rung());
  to->rung_name = result.text(from.rung_name());
  to->pack = result.text(from.pack());
  to->why = result.text(from.why);
  to->sentence = result.text(from.sentence());
  return to;
}

}  // namespace trine::detail

namespace {

trine_status run_any(trine_queue_t* queue, const auto* operation, const char* rung,
                     const trine_choice_t** choice) {
  return on_queue(
      queue, [&](Queue& used) { offer(choice, run(used, value_of(operation), text_of(rung))); });
}

trine_status choose_any(const trine_device_t* device, const auto* operation, const char* rung,
                        const trine_choice_t** choice) {
  return guard([&] { give(choice, choose(value_of(device), value_of(operation), text_of(rung))); },
               choice);
}

}  // namespace

#define TRINE_FUNCTIONS_OF(VALUE, word, ...)                                             \
  trine_status trine_run_##word(trine_queue_t* queue, const trine_##word##_t* operation, \
                                const char* rung, const trine_choice_t** choice) {       \
    return run_any(queue, operation, rung, choice);                                      \
  }                                                                                      \
  trine_status trine_choose_##word(const trine_device_t* device,                         \
                                   const trine_##word##_t* operation, const char* rung,  \
                                   const trine_choice_t** choice) {                      \
    return choose_any(device, operation, rung, choice);                                  \
  }
TRINE_OPERATIONS(TRINE_FUNCTIONS_OF)
trine_status trine_run_dot(trine_queue_t* queue, trine_view_t x, trine_view_t y,
                           trine_view_t output, uint32_t axis, const char* rung,
                           const trine_choice_t** choice) {
  return on_queue(queue, [&](Queue& used) {
    offer(choice, dot(used, view_of(x), view_of(y), view_of(output), value_or(axis, Axis::all),
                      text_of(rung)));
  });
}

trine_status trine_run_axpby(trine_queue_t* queue, trine_scalar_t alpha, trine_view_t x,
                             trine_scalar_t beta, trine_view_t y) {
  return on_queue(queue, [&](Queue& used) {
    axpby(used, scalar_of(alpha.number, alpha.element), view_of(x),
          scalar_of(beta.number, beta.element), view_of(y));
  });
}
trine_status trine_run_scalar(trine_queue_t* queue, uint32_t function, trine_scalar_t x,
                              trine_scalar_t y, trine_view_t result) {
  return on_queue(queue, [&](Queue& used) {
    scalar(used, Arithmetic(function), scalar_of(x.number, x.element),
           scalar_of(y.number, y.element), view_of(result));
  });
}
