// <trine/c/partial.h>
#include "layer.hpp"

using namespace trine;
using namespace trine::detail;

static_assert(sizeof(trine_partial_t) == sizeof(Partial::State));

trine_status trine_partial_init(trine_partial_t* partial, uint32_t function, uint32_t map,
                                uint32_t dtype) {
  return guard(
      [&] {
        const Partial nothing(static_cast<Function>(function), static_cast<Dtype>(dtype),
                              value_or(map, Map::identity));
        std::ranges::copy(nothing.state(), partial->state);
      },
      partial);
}
trine_status trine_partial_add(trine_partial_t* partial, trine_host_view_t part, int64_t first,
                               const trine_options_t* given) {
  return change_state<Partial>(partial, [&](Partial& value) {
    with_options(given,
                 [&](const HostOptions& options) { value.add(view_of(part), first, options); });
  });
}
trine_status trine_partial_add_on_queue(trine_partial_t* partial, trine_queue_t* queue,
                                        trine_view_t part, int64_t first) {
  return change_state<Partial>(partial, [&](Partial& value) {
    Queue used = value_of(queue);
    value.add(used, view_of(part), first);
  });
}
trine_status trine_partial_merge(trine_partial_t* partial, const trine_partial_t* other) {
  return change_state<Partial>(partial,
                               [&](Partial& value) { value.merge(of_state<Partial>(other)); });
}
trine_status trine_partial_result(const trine_partial_t* partial, uint32_t dtype, void* value) {
  return guard([&] { of_state<Partial>(partial).result(static_cast<Dtype>(dtype), value); }, value);
}
