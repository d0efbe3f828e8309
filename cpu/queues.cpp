// Queues and events of the contract, over the executor.
#include <memory>
#include "backends/kit/abi_struct.hpp"

#include "handles.hpp"

namespace trine::cpu {
namespace {

// --- Queues ----------------------------------------------------------------------------------

trine_status queue_create(trine_device* device, trine_queue** queue) {
  return checked([&] {
    std::unique_ptr<trine_queue> fresh(new trine_queue{{}, device, nullptr, nullptr});
    fresh->queue = device->executor->queue_create(device->threads);
    retain(device);
    *queue = fresh.release();
  });
}

trine_status queue_adopt(trine_device*, void*, trine_queue**) {
  return kit::report(TRINE_UNSUPPORTED,
                     "cpu: there is no native queue to adopt; create a queue instead");
}

void queue_destroy(trine_queue* queue) {
  if (!queue) return;
  queue->device->executor->queue_destroy(queue->queue);
  release(queue->device);
  delete queue;
}

void* queue_native(trine_queue*) { return nullptr; }

trine_status queue_flush(trine_queue*) {
  return checked([] {});
}

trine_status queue_wait(trine_queue* queue) {
  return kit::guard([&] { queue->device->executor->queue_wait(queue->queue); });
}

trine_status queue_query(trine_queue* queue) {
  return kit::guard([&]() -> trine_status {
    if (queue->device->executor->queue_idle(queue->queue)) return TRINE_OK;
    return kit::report(TRINE_NOT_READY, "cpu: work is in flight on the queue");
  });
}

trine_status queue_wait_event(trine_queue* queue, trine_event* event) {
  return checked([&] {
    const std::lock_guard guard(event->lock);
    if (event->mark) queue->device->executor->queue_wait_mark(queue->queue, event->mark);
  });
}

trine_status queue_call(trine_queue* queue, void (*function)(void*), void* argument) {
  return checked([&] {
    queue->device->executor->submit(
        queue->queue, kNeverSmall,
        [](void* payload, Parallel&) {
          const auto& call = *static_cast<const Notice*>(payload);
          call.function(call.argument);
        },
        Notice{function, argument});
  });
}

void queue_witness(trine_queue* queue, const trine_witness* witness) { queue->witness = witness; }

// --- Events ----------------------------------------------------------------------------------

trine_status event_create(trine_device* device, std::int32_t signalled_by_host,
                          trine_event** event) {
  return checked([&] {
    auto fresh = std::make_unique<trine_event>();
    fresh->device = device;
    fresh->signalled_by_host = signalled_by_host != 0;
    if (fresh->signalled_by_host) fresh->mark = device->executor->promise();
    retain(device);
    *event = fresh.release();
  });
}

void event_destroy(trine_event* event) {
  if (!event) return;
  // Nobody can keep this promise any more, so it is completed: waiting queues would wait for ever.
  if (event->signalled_by_host) event->device->executor->signal(*event->mark);
  release(event->device);
  delete event;
}

trine_status event_record(trine_event* event, trine_queue* queue) {
  return checked([&] {
    if (event->signalled_by_host)
      kit::fail(TRINE_INVALID_ARGUMENT, "cpu: an event that the host signals can't be recorded");
    SharedMark mark = event->device->executor->record(queue->queue);
    const std::lock_guard guard(event->lock);
    event->mark.swap(mark);
  });
}

trine_status event_signal(trine_event* event) {
  return checked([&] {
    if (!event->signalled_by_host)
      kit::fail(TRINE_INVALID_ARGUMENT,
                "cpu: only an event created for it is signalled by the host");
    event->device->executor->signal(*event->mark);
  });
}

// The mark that the event stands for now; null when never recorded.
SharedMark mark_of(trine_event* event) {
  const std::lock_guard guard(event->lock);
  return event->mark;
}

bool passed(trine_event* event, std::int64_t* nanoseconds) {
  const SharedMark mark = mark_of(event);
  return !mark || event->device->executor->done(*mark, nanoseconds);
}

trine_status event_query(trine_event* event) {
  return checked([&]() -> trine_status {
    if (passed(event, nullptr)) return TRINE_OK;
    return kit::report(TRINE_NOT_READY, "cpu: the event has not happened yet");
  });
}

trine_status event_wait(trine_event* event) {
  return checked([&] {
    if (const SharedMark mark = mark_of(event)) event->device->executor->wait(*mark);
  });
}

trine_status event_notify(trine_event* event, void (*function)(void*), void* argument) {
  return checked([&] {
    const SharedMark mark = mark_of(event);
    if (!mark) return function(argument);
    event->device->executor->notify(*mark, {function, argument});
  });
}

trine_status event_elapsed(trine_event* start, trine_event* stop, double* seconds) {
  return checked([&] {
    if (!start->mark || !stop->mark)
      kit::fail(TRINE_INVALID_ARGUMENT, "cpu: both events must have been recorded");
    std::int64_t begin = 0;
    std::int64_t end = 0;
    if (!passed(start, &begin) || !passed(stop, &end))
      kit::fail(TRINE_NOT_READY, "cpu: the event has not happened yet");
    *seconds = static_cast<double>(end - begin) * 1e-9;
  });
}

}  // namespace

void fill_queue_table(trine_backend& table) {
  TRINE_QUEUE_FUNCTIONS(TRINE_SET)
  table.queue_call = queue_call;
  table.queue_witness = queue_witness;
}

}  // namespace trine::cpu
