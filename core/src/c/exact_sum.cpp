// <trine/c/exact_sum.h>
#include "layer.hpp"

using namespace trine;
using namespace trine::detail;

trine_status trine_exact_sum_add(trine_exact_sum_t* sum, uint32_t map, trine_host_view_t x,
                                 const trine_options_t* given) {
  return change_state<ExactSum>(sum, [&](ExactSum& value) {
    with_options(given, [&](const HostOptions& options) {
      value.add(view_of(x), value_or(map, Map::identity), options);
    });
  });
}
trine_status trine_exact_sum_add_dot(trine_exact_sum_t* sum, trine_host_view_t x,
                                     trine_host_view_t y, const trine_options_t* given) {
  return change_state<ExactSum>(sum, [&](ExactSum& value) {
    with_options(
        given, [&](const HostOptions& options) { value.add_dot(view_of(x), view_of(y), options); });
  });
}
trine_status trine_exact_sum_add_on_queue(trine_exact_sum_t* sum, trine_queue_t* queue,
                                          uint32_t map, trine_view_t x) {
  return change_state<ExactSum>(sum, [&](ExactSum& value) {
    Queue used = value_of(queue);
    value.add(used, view_of(x), value_or(map, Map::identity));
  });
}
trine_status trine_exact_sum_add_dot_on_queue(trine_exact_sum_t* sum, trine_queue_t* queue,
                                              trine_view_t x, trine_view_t y) {
  return change_state<ExactSum>(sum, [&](ExactSum& value) {
    Queue used = value_of(queue);
    value.add_dot(used, view_of(x), view_of(y));
  });
}
trine_status trine_exact_sum_merge(trine_exact_sum_t* sum, const trine_exact_sum_t* other) {
  return change_state<ExactSum>(sum,
                                [&](ExactSum& value) { value.merge(of_state<ExactSum>(other)); });
}
trine_status trine_exact_sum_to_f32(const trine_exact_sum_t* sum, float* value) {
  return guard([&] { *value = of_state<ExactSum>(sum).round<float>(); }, value);
}
trine_status trine_exact_sum_to_f64(const trine_exact_sum_t* sum, double* value) {
  return guard([&] { *value = of_state<ExactSum>(sum).round<double>(); }, value);
}
