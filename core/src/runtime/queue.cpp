// Queues and events as a program sees them, and the bridge between backends.
#include <trine/queue.hpp>

#include "backends/kit/signals.hpp"
#include "state.hpp"

namespace trine {

using detail::Access;
using detail::DeviceState;
using detail::EventState;
using detail::QueueState;

namespace detail {

namespace {

std::shared_ptr<QueueState> blank_queue(std::shared_ptr<DeviceState> device) {
  return {new QueueState(std::move(device)), &QueueState::retire, kit::Allocator<QueueState>{}};
}

}  // namespace

std::shared_ptr<QueueState> make_queue(const std::shared_ptr<DeviceState>& device) {
  auto state = blank_queue(device);
  const auto create = [&] {
    return device->api.queue_create(device->handle, &state->timeline->queue);
  };
  device->expect(kit::without_signals(create), "creating a queue");
  return state;
}

std::shared_ptr<QueueState> adopt_queue(const std::shared_ptr<DeviceState>& device, void* native) {
  auto state = blank_queue(device);
  device->expect(device->api.queue_adopt(device->handle, native, &state->timeline->queue),
                 "adopting a queue");
  state->timeline->is_adopted = true;
  return state;
}

std::shared_ptr<EventState> make_event(const std::shared_ptr<DeviceState>& device, bool by_host) {
  auto state = std::allocate_shared<EventState>(kit::Allocator<EventState>{}, device);
  device->expect(device->api.event_create(device->handle, by_host ? 1 : 0, &state->handle),
                 "creating an event");
  state->by_host = by_host;
  return state;
}

std::shared_ptr<EventState> record(QueueState& queue) {
  auto state = make_event(queue.timeline->device, false);
  const std::lock_guard lock(queue.timeline->mutex);
  queue.expect(queue.device().api.event_record(state->handle, queue.timeline->queue),
               "recording an event");
  return state;
}

namespace {

/// A queue of one backend waiting for an event of another: when the event has passed, the far
/// side's own thread signals an event of the near side. Kept until then.
struct Bridge : DeferredDeletion {
  bool passed() noexcept override { return fired.load(std::memory_order_acquire); }
  static void fire(void* self) {
    auto* bridge = static_cast<Bridge*>(self);
    const trine_backend& api = bridge->signal->device->api;
    bridge->signal->device->notice(api.event_signal(bridge->signal->handle));
    bridge->fired.store(true, std::memory_order_release);
  }
  std::shared_ptr<EventState> source, signal;
  std::atomic<bool> fired{false};
};

void bridge(QueueState& queue, const std::shared_ptr<EventState>& event) {
  auto made = std::make_unique<Bridge>();
  made->source = event;
  made->signal = make_event(queue.timeline->device, true);
  {
    const std::lock_guard lock(queue.timeline->mutex);
    queue.expect(queue.device().api.queue_wait_event(queue.timeline->queue, made->signal->handle),
                 "waiting for an event of another backend");
  }
  Bridge* const kept = made.release();
  // The far queue must be on its way, or nobody would ever signal.
  const DeviceState& far = *event->device;
  const trine_status status = far.api.event_notify(event->handle, &Bridge::fire, kept);
  if (status != TRINE_OK) Bridge::fire(kept);  // never leave the queue waiting
  defer(kept);
  far.expect(status, "requesting a notification of an event");
}

}  // namespace

void wait_for(QueueState& queue, const std::shared_ptr<EventState>& event) {
  event->device->check();
  if (&event->device->api != &queue.device().api) return bridge(queue, event);
  const std::lock_guard lock(queue.timeline->mutex);
  queue.expect(queue.device().api.queue_wait_event(queue.timeline->queue, event->handle),
               "waiting for an event");
}

void wait(QueueState& queue) {
  Helpers finished;
  {
    const std::lock_guard lock(queue.timeline->mutex);
    queue.expect(queue.device().api.queue_wait(queue.timeline->queue), "waiting for the queue");
    queue.timeline->has_work = false;
    finished = queue.finish_helpers();
    queue.throw_failure();
    queue.logged = 0;
  }
  finished.clear();
  collect();
}

}  // namespace detail

bool Event::done() const {
  return detail::entry([&] {
    if (!state_) return true;
    state_->device->check();
    const trine_status status = state_->device->api.event_query(state_->handle);
    if (status == TRINE_NOT_READY) return false;
    state_->device->expect(status, "querying an event");
    if (state_->failure) std::rethrow_exception(state_->failure);
    return true;
  });
}

void Event::wait() const {
  detail::entry([&] {
    if (!state_) return;
    state_->device->check();
    state_->device->expect(state_->device->api.event_wait(state_->handle), "waiting for an event");
    if (state_->failure) std::rethrow_exception(state_->failure);
  });
}

double elapsed(const Event& start, const Event& stop) {
  return detail::entry([&] {
    const auto &from = Access::state(start), &to = Access::state(stop);
    if (!from || !to) detail::refuse("elapsed() needs two recorded events; one is empty.");
    if (from->by_host || to->by_host)
      detail::refuse("elapsed() needs two recorded events; one is of a call on host data.");
    if (from->device != to->device) {
      detail::refuse("elapsed() needs two events of one device: they belong to ", from->device->id,
                     " and ", to->device->id, ".");
    }
    start.wait();
    stop.wait();
    double seconds = 0;
    from->device->expect(from->device->api.event_elapsed(from->handle, to->handle, &seconds),
                         "measuring between two events");
    return seconds;
  });
}

Queue::Queue(const Device& device)
    : state_(detail::entry([&] {
        Access::use(device);
        return detail::make_queue(Access::state(device));
      })) {}

Queue Queue::adopt(const Device& device, void* native) {
  return detail::entry([&] {
    const DeviceState& state = Access::use(device);
    // CUDA's null stream is a stream: the only backend whose null handle means one says so itself.
    if (!native && state.backend.name != "cuda")
      detail::refuse("Queue::adopt(): the native queue is null.");
    Queue queue;
    queue.state_ = detail::adopt_queue(Access::state(device), native);
    return queue;
  });
}

Device Queue::device() const {
  if (!state_) detail::refuse("This Queue is empty: make one of a device first.");
  return Access::device(state_->timeline->device);
}

void* Queue::native() const {
  const QueueState& queue = Access::use(*this);
  return queue.device().api.queue_native(queue.timeline->queue);
}

void Queue::flush() {
  detail::entry([&] {
    QueueState& queue = Access::use(*this);
    const std::lock_guard lock(queue.timeline->mutex);
    queue.expect(queue.device().api.queue_flush(queue.timeline->queue), "flushing the queue");
  });
}

void Queue::wait() {
  detail::entry([&] { detail::wait(Access::use(*this)); });
}

bool Queue::done() {
  return detail::entry([&] {
    QueueState& queue = Access::use(*this);
    // Whoever holds the queue is waiting for it, or enqueuing: either way it isn't done.
    const std::unique_lock lock(queue.timeline->mutex, std::try_to_lock);
    if (!lock) return false;
    const trine_status status = queue.device().api.queue_query(queue.timeline->queue);
    if (status == TRINE_NOT_READY) return false;
    queue.expect(status, "querying the queue");
    return true;
  });
}

Event Queue::record() {
  return detail::entry([&] {
    Event event;
    Access::state(event) = detail::record(Access::use(*this));
    return event;
  });
}

void Queue::wait(const Event& event) {
  detail::entry([&] {
    QueueState& queue = Access::use(*this);
    if (const auto& state = Access::state(event)) detail::wait_for(queue, state);
  });
}

}  // namespace trine
