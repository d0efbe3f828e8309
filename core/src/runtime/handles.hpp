// Making and using what stands behind queues, events and buffers, for core's own files.
#pragma once

#include "state.hpp"

namespace trine::detail {

std::shared_ptr<QueueState> make_queue(const std::shared_ptr<DeviceState>& device);
std::shared_ptr<QueueState> adopt_queue(const std::shared_ptr<DeviceState>& device, void* native);
std::shared_ptr<EventState> make_event(const std::shared_ptr<DeviceState>& device, bool by_host);
/// A moment after all work enqueued so far.
std::shared_ptr<EventState> record(QueueState& queue);
/// Work enqueued from now on waits for `event`, of any backend; the caller doesn't.
void wait_for(QueueState& queue, const std::shared_ptr<EventState>& event);
void wait(QueueState& queue);

std::shared_ptr<BufferState> allocate(std::shared_ptr<DeviceState> device, uint64_t bytes,
                                      Memory kind);
std::shared_ptr<BufferState> wrap(std::shared_ptr<DeviceState> device, void* host, uint64_t bytes);

}  // namespace trine::detail
