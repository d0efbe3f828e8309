// Events: a marker in a queue, or a user event that the host completes. Also the places for their
// time stamps, which are used again when nothing writes there any more.
#include <memory>

#include "opencl/objects.hpp"

namespace trine::opencl {
namespace {

void when_complete(Device& device, cl_event event, void (*function)(void*), void* argument) {
  std::unique_ptr<gpu::Notice> notice(new gpu::Notice(function, argument));
  const auto deliver = [](cl_event, cl_int, void* owned) { gpu::Notice::deliver(owned); };
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

HeldEvent user_event(Device& device, cl_context context) {
  cl_int code = CL_SUCCESS;
  HeldEvent event(driver().clCreateUserEvent(context, &code));
  device.check(code, "clCreateUserEvent");
  return event;
}

constexpr int kStamps = 1024;  // a block

}  // namespace

Event::Event(Device& on, bool signalled_by_host) : trine_event(on, signalled_by_host), device_(on) {
  if (!by_host) return;
  moment_.marker = user_event(on, on.context->native());
  moment_.context = on.context->native();
}

Event::~Event() {
  if (gpu::is_forked()) return;
  // Nobody can signal it any more, so it is completed: waiting threads must not wait for ever.
  if (by_host && !signalled_) driver().clSetUserEventStatus(moment_.marker.get(), CL_COMPLETE);
  device_.stamps.give_back(moment_.stamp, std::move(moment_.marker));
}

Event::Moment Event::take() {
  std::lock_guard lock(mutex_);
  const cl_event marker = moment_.marker.get();
  if (marker) device_.check(driver().clRetainEvent(marker), "clRetainEvent");
  return {HeldEvent(marker), moment_.stamp, moment_.context};
}

// The flush lets waiters in other queues and pollers see the event without touching this queue.
void Event::record(trine_queue& on) {
  auto& queue = static_cast<Queue&>(on);
  queue.note_work();
  Moment fresh;
  fresh.context = queue.context.native();
  // Stamps live in the device's own context; a queue of another goes without.
  if (!queue.is_profiled() && device_.is_nvidia && &queue.context == device_.context.get()) {
    fresh.stamp = device_.stamps.take();
  }
  try {
    if (fresh.stamp.memory) queue.record_time(fresh.stamp);
    queue.mark(fresh.marker);
  } catch (...) {
    device_.stamps.give_back(fresh.stamp, std::move(fresh.marker));
    throw;
  }
  {
    std::lock_guard lock(mutex_);
    std::swap(moment_, fresh);
  }
  device_.stamps.give_back(fresh.stamp, std::move(fresh.marker));
}

void Event::signal() {
  if (gpu::is_forked()) return;
  std::lock_guard lock(mutex_);
  if (signalled_) return;
  device_.check(driver().clSetUserEventStatus(moment_.marker.get(), CL_COMPLETE),
                "clSetUserEventStatus");
  signalled_ = true;
}

bool Event::passed() {
  const Moment moment = take();
  return !moment.marker || has_passed(device_, moment.marker.get());
}

void Event::wait() {
  const Moment moment = take();
  if (moment.marker) wait_for(moment);
}

void Event::notify(void (*function)(void*), void* argument) {
  const Moment moment = take();
  if (!moment.marker) return function(argument);
  when_complete(device_, moment.marker.get(), function, argument);
}

void Event::wait_for(const Moment& moment) {
  const cl_event marker = moment.marker.get();
  device_.check(driver().clWaitForEvents(1, &marker), "clWaitForEvents");
}

int64_t Event::time_of(const Moment& moment) {
  if (!moment.marker)
    kit::fail(TRINE_INVALID_ARGUMENT, "an event that was not recorded has no time");
  wait_for(moment);
  if (moment.stamp.memory) return static_cast<int64_t>(device_.stamps.read(moment.stamp));
  cl_ulong nanoseconds = 0;
  const cl_int code = driver().clGetEventProfilingInfo(
      moment.marker.get(), CL_PROFILING_COMMAND_END, sizeof nanoseconds, &nanoseconds, nullptr);
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
  const Moment first = static_cast<Event&>(start).take(), last = take();
  const int64_t from = time_of(first);
  return 1e-9 * static_cast<double>(time_of(last) - from);
}

// --- Stamps -------------------------------------------------------------------------------------

Stamp Stamps::take() {
  std::lock_guard lock(mutex_);
  if (free_.empty()) recycle();
  if (free_.empty()) grow();
  const Stamp stamp = free_.back();
  free_.pop_back();
  return stamp;
}

void Stamps::recycle() {
  std::erase_if(retired_, [&](const Retired& one) {
    cl_int state = CL_QUEUED;
    driver().clGetEventInfo(one.marker.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                            &state, nullptr);
    if (state <= CL_COMPLETE) free_.push_back(one.stamp);
    return state <= CL_COMPLETE;
  });
}

void Stamps::grow() {
  const std::size_t all = (blocks_.size() + 1) * kStamps;
  blocks_.reserve(blocks_.size() + 1);
  free_.reserve(all);
  retired_.reserve(all);  // so that giving back never allocates
  cl_int code = CL_SUCCESS;
  HeldMemory block(driver().clCreateBuffer(device_.context->native(), CL_MEM_READ_WRITE,
                                           kStamps * sizeof(uint64_t), nullptr, &code));
  device_.check(code, "clCreateBuffer");
  for (int slot = 0; slot < kStamps; ++slot) free_.push_back({block.get(), slot});
  blocks_.push_back(std::move(block));
}

void Stamps::give_back(const Stamp& stamp, HeldEvent marker) {
  if (!stamp.memory) return;
  std::lock_guard lock(mutex_);
  if (marker) {
    retired_.push_back({stamp, std::move(marker)});
  } else {
    free_.push_back(stamp);  // its kernel was never enqueued
  }
}

uint64_t Stamps::read(const Stamp& stamp) {
  uint64_t nanoseconds = 0;
  std::lock_guard lock(device_.service_mutex);
  device_.check(driver().clEnqueueReadBuffer(device_.service.get(), stamp.memory, CL_TRUE,
                                             static_cast<std::size_t>(stamp.slot) * 8, 8,
                                             &nanoseconds, 0, nullptr, nullptr),
                "clEnqueueReadBuffer");
  return nanoseconds;
}

// --- Waiting ------------------------------------------------------------------------------------

// In an in-order queue a barrier on a list holds back all that comes after it. Events of another
// context can't stand in the list: a user event of this one stands for them.
void Queue::wait_for(trine_event& waited) {
  const Event::Moment moment = static_cast<Event&>(waited).take();
  if (!moment.marker) return;
  note_work();
  HeldEvent stand_in;
  if (moment.context != context.native()) stand_in = user_event(device_, context.native());
  const cl_event event = stand_in ? stand_in.get() : moment.marker.get();
  device_.check(driver().clEnqueueBarrierWithWaitList(queue, 1, &event, nullptr),
                "clEnqueueBarrierWithWaitList");
  if (!stand_in) return;
  try {
    when_complete(device_, moment.marker.get(), complete, stand_in.get());
  } catch (...) {
    complete(stand_in.release());  // the queue must not hang for what was never armed
    throw;
  }
  static_cast<void>(stand_in.release());  // complete() gives it back
}

}  // namespace trine::opencl
