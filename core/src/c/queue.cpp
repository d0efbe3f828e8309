// <trine/c/queue.h>
#include "layer.hpp"

using namespace trine;
using namespace trine::detail;

trine_status trine_queue_create(const trine_device_t* device, trine_queue_t** queue) {
  return guard([&] { *queue = new trine_queue_t{Queue(value_of(device))}; }, queue);
}
trine_status trine_queue_adopt(const trine_device_t* device, void* native, trine_queue_t** queue) {
  return guard([&] { *queue = new trine_queue_t{Queue::adopt(value_of(device), native)}; }, queue);
}
void trine_queue_release(trine_queue_t* queue) { delete queue; }
trine_status trine_queue_get_device(const trine_queue_t* queue, trine_device_t** device) {
  return guard([&] { *device = new trine_device_t{value_of(queue).device()}; }, device);
}
trine_status trine_queue_get_native(const trine_queue_t* queue, void** native) {
  return guard([&] { *native = value_of(queue).native(); }, native);
}
trine_status trine_queue_flush(trine_queue_t* queue) {
  return guard([&] { value_of(queue).flush(); });
}
trine_status trine_queue_wait(trine_queue_t* queue) {
  return guard([&] { value_of(queue).wait(); });
}
trine_status trine_queue_is_done(trine_queue_t* queue, int* done) {
  return guard([&] { *done = value_of(queue).done(); }, done);
}
trine_status trine_queue_wait_event(trine_queue_t* queue, const trine_event_t* event) {
  return guard([&] { value_of(queue).wait(value_of(event)); });
}

trine_status trine_event_record(trine_queue_t* queue, trine_event_t** event) {
  return guard([&] { *event = new trine_event_t{value_of(queue).record()}; }, event);
}
void trine_event_release(trine_event_t* event) { delete event; }
trine_status trine_event_is_done(const trine_event_t* event, int* done) {
  return guard([&] { *done = value_of(event).done(); }, done);
}
trine_status trine_event_wait(const trine_event_t* event) {
  return guard([&] { value_of(event).wait(); });
}
trine_status trine_event_get_elapsed(const trine_event_t* start, const trine_event_t* stop,
                                     double* seconds) {
  return guard([&] { *seconds = elapsed(value_of(start), value_of(stop)); }, seconds);
}
