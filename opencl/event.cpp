// Events: a marker in a queue, or a user event that the host completes.
#include <memory>

#include "opencl/objects.hpp"

namespace trine::opencl {
namespace {

/// A call waiting for an event; owned by the driver's callback.
struct Notice : kit::Allocated {
  void (*function)(void*);
  void* argument;
};

void CL_CALLBACK deliver(cl_event, cl_int, void* data) {
  const std::unique_ptr<Notice> notice(static_cast<Notice*>(data));
  notice->function(notice->argument);
}

void when_complete(Device& device, cl_event event, void (*function)(void*), void* argument) {
  std::unique_ptr<Notice> notice(new Notice);
  notice->function = function;
  notice->argument = argument;
  device.check(driver().clSetEventCallback(event, CL_COMPLETE, deliver, notice.get()),
               "clSetEventCallback");
  static_cast<void>(notice.release());  // deliver() owns it
}

void complete(void* user_event) {
  auto* event = static_cast<cl_event>(user_event);
  driver().clSetUserEventStatus(event, CL_COMPLETE);
  driver().clReleaseEvent(event);
}

/// Throws for an event whose work failed; true when it has passed.
bool has_passed(Device& device, cl_event event) {
  cl_int state = CL_QUEUED;
  device.check(driver().clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                                       &state, nullptr),
               "clGetEventInfo");
  if (state < 0) device.check(state, "the work before an event");
  return state == CL_COMPLETE;
}

cl_event user_event(Device& device, cl_context context) {
  cl_int code = CL_SUCCESS;
  cl_event event = driver().clCreateUserEvent(context, &code);
  device.check(code, "clCreateUserEvent");
  return event;
}

}  // namespace

Event::Event(Device& on, bool signalled_by_host)
    : trine_event(on), device_(on), by_host_(signalled_by_host) {
  if (!by_host_) return;
  moment_.marker = user_event(on, on.context->native());
  moment_.context = on.context->native();
}

Event::~Event() {
  if (gpu::is_forked()) return;
  // Nobody can signal it any more, so whoever waits must not wait for ever.
  if (by_host_ && !signalled_) driver().clSetUserEventStatus(moment_.marker, CL_COMPLETE);
  drop(moment_);
}

void Event::drop(const Moment& moment) {
  if (moment.stamp.memory) device_.stamps.give_back(moment.stamp, moment.marker);
  if (moment.marker) driver().clReleaseEvent(moment.marker);
}

Event::Moment Event::take() {
  std::lock_guard lock(mutex_);
  if (moment_.marker) device_.check(driver().clRetainEvent(moment_.marker), "clRetainEvent");
  return moment_;
}

// The flush lets waiters in other queues and pollers see the event without touching this queue.
void Event::record(trine_queue& on) {
  if (by_host_) kit::fail(TRINE_INVALID_ARGUMENT, "an event signalled by the host isn't recorded");
  auto& queue = static_cast<Queue&>(on);
  queue.note_work();
  Moment fresh;
  fresh.context = queue.context.native();
  // Stamps live in the device's own context; a queue of another goes without.
  if (!queue.is_profiled() && device_.is_nvidia && &queue.context == device_.context) {
    fresh.stamp = device_.stamps.take();
  }
  try {
    if (fresh.stamp.memory) queue.record_time(fresh.stamp);
    device_.check(driver().clEnqueueMarkerWithWaitList(queue.queue, 0, nullptr, &fresh.marker),
                  "clEnqueueMarkerWithWaitList");
    device_.check(driver().clFlush(queue.queue), "clFlush");
  } catch (...) {
    drop(fresh);
    throw;
  }
  Moment old;
  {
    std::lock_guard lock(mutex_);
    old = std::exchange(moment_, fresh);
  }
  drop(old);
}

void Event::signal() {
  if (!by_host_)
    kit::fail(TRINE_INVALID_ARGUMENT, "only an event made for it is signalled by the host");
  if (gpu::is_forked()) return;
  std::lock_guard lock(mutex_);
  if (signalled_) return;
  device_.check(driver().clSetUserEventStatus(moment_.marker, CL_COMPLETE), "clSetUserEventStatus");
  signalled_ = true;
}

bool Event::passed() {
  const Taken taken(*this);
  return !taken.moment.marker || has_passed(device_, taken.moment.marker);
}

void Event::wait() {
  const Taken taken(*this);
  if (!taken.moment.marker) return;
  device_.check(driver().clWaitForEvents(1, &taken.moment.marker), "clWaitForEvents");
}

void Event::notify(void (*function)(void*), void* argument) {
  const Taken taken(*this);
  if (!taken.moment.marker) return function(argument);
  when_complete(device_, taken.moment.marker, function, argument);
}

int64_t Event::time_of(const Moment& moment) {
  if (!moment.marker)
    kit::fail(TRINE_INVALID_ARGUMENT, "an event that was not recorded has no time");
  device_.check(driver().clWaitForEvents(1, &moment.marker), "clWaitForEvents");
  if (moment.stamp.memory) return static_cast<int64_t>(device_.stamps.read(moment.stamp));
  cl_ulong nanoseconds = 0;
  const cl_int code = driver().clGetEventProfilingInfo(moment.marker, CL_PROFILING_COMMAND_END,
                                                       sizeof nanoseconds, &nanoseconds, nullptr);
  if (code == CL_PROFILING_INFO_NOT_AVAILABLE) {
    kit::fail(TRINE_UNSUPPORTED,
              "opencl:%d: the event has no time: its queue was adopted without "
              "CL_QUEUE_PROFILING_ENABLE",
              device_.index);
  }
  device_.check(code, "clGetEventProfilingInfo");
  return static_cast<int64_t>(nanoseconds);
}

double Event::seconds_since(trine_event& start) {
  const Taken first(static_cast<Event&>(start)), last(*this);
  const int64_t from = time_of(first.moment);
  return 1e-9 * static_cast<double>(time_of(last.moment) - from);
}

// In an in-order queue a barrier on a list holds back all that comes after it. Events of another
// context can't stand in the list: a user event of this one stands for them.
void Queue::wait_for(trine_event& waited) {
  const Event::Taken taken(static_cast<Event&>(waited));
  const Event::Moment& moment = taken.moment;
  if (!moment.marker) return;
  cl_event event = moment.marker;
  note_work();
  const bool foreign = moment.context != context.native();
  if (foreign) event = user_event(device_, context.native());
  cl_int code = driver().clEnqueueBarrierWithWaitList(queue, 1, &event, nullptr);
  if (!foreign) return device_.check(code, "clEnqueueBarrierWithWaitList");
  if (code != CL_SUCCESS) driver().clReleaseEvent(event);
  device_.check(code, "clEnqueueBarrierWithWaitList");
  try {
    when_complete(device_, moment.marker, complete, event);
  } catch (...) {
    complete(event);  // the queue must not hang for what was never armed
    throw;
  }
}

}  // namespace trine::opencl
