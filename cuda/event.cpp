// Events: the driver's own, or a word of memory that the host writes and streams wait on, so that
// nobody is blocked meanwhile.
#include <atomic>
#include <memory>

#include "cuda/objects.hpp"

namespace trine::cuda {

Event::Event(Device& on, bool signalled_by_host) : trine_event(on, signalled_by_host), device_(on) {
  if (by_host) {
    flag_ = on.take_flag();
  } else {
    const Current current(on);
    on.check(driver().cuEventCreate(&event_, 0), "cuEventCreate");
  }
}

Event::~Event() {
  if (gpu::is_forked()) return;
  if (by_host) {
    signal();  // nobody can signal it any more, and waiting threads must not wait for ever
    device_.give_back(flag_);
  } else if (!device_.is_lost()) {
    const Current current(device_, std::nothrow);
    driver().cuEventDestroy(event_);
  }
}

void Event::record(trine_queue& queue) {
  const Current current(device_);
  device_.check(driver().cuEventRecord(event_, static_cast<Queue&>(queue).stream), "cuEventRecord");
}

void Event::hold_back(Queue& queue) {
  if (by_host) {
    device_.check(
        driver().cuStreamWaitValue32(queue.stream, flag_.device, flag_.value, kWaitValueGeq),
        "cuStreamWaitValue32");
  } else {
    device_.check(driver().cuStreamWaitEvent(queue.stream, event_, 0), "cuStreamWaitEvent");
  }
}

void Event::signal() {
  gpu::Notice* notices = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (signalled_) return;
    signalled_ = true;
    std::atomic_ref(*flag_.host).store(flag_.value, std::memory_order_release);
    std::swap(notices, notices_);
    signalled_condition_.notify_all();
  }
  while (notices) gpu::Notice::deliver(std::exchange(notices, notices->next));
}

bool Event::passed() {
  if (by_host) {
    std::lock_guard lock(mutex_);
    return signalled_;
  }
  const Current current(device_);
  const Result code = driver().cuEventQuery(event_);
  if (code == kNotReady) return false;
  device_.check(code, "cuEventQuery");
  return true;
}

void Event::wait() {
  if (by_host) {
    std::unique_lock lock(mutex_);
    signalled_condition_.wait(lock, [&] { return signalled_; });
    return;
  }
  const Current current(device_);
  device_.check(driver().cuEventSynchronize(event_), "cuEventSynchronize");
}

// A stream of its own for each notice: no queue waits for the function, and no notice for another.
// cuStreamAddCallback, because cuLaunchHostFunc never calls when the context has failed, and the
// waiter in another backend would wait for ever.
void Event::notify(void (*function)(void*), void* argument) {
  std::unique_ptr<gpu::Notice> notice(new gpu::Notice(function, argument));
  if (by_host) {
    std::unique_lock lock(mutex_);
    if (!signalled_) {
      notice->next = notices_;
      notices_ = notice.release();
      return;
    }
    lock.unlock();
    return function(argument);
  }
  const Current current(device_);
  Stream stream = nullptr;
  device_.check(driver().cuStreamCreate(&stream, kStreamNonBlocking), "cuStreamCreate");
  Result code = driver().cuStreamWaitEvent(stream, event_, 0);
  if (code == kSuccess) {
    const auto deliver = [](Stream, Result, void* owned) { gpu::Notice::deliver(owned); };
    code = driver().cuStreamAddCallback(stream, deliver, notice.get(), 0);
    if (code == kSuccess) static_cast<void>(notice.release());  // deliver() owns it
  }
  driver().cuStreamDestroy(stream);  // it goes when its callback has run
  device_.check(code, "a notice of an event");
}

double Event::seconds_since(trine_event& start) {
  auto& first = static_cast<Event&>(start);
  const Current current(device_);
  float milliseconds = 0;
  device_.check(driver().cuEventElapsedTime(&milliseconds, first.event_, event_),
                "cuEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace trine::cuda
