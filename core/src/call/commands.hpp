// What operations need around their launch.
#pragma once

#include "core/src/runtime/state.hpp"

namespace trine::detail {

/// Before the queue is locked: it is about to use the view's memory, if there is any.
void use(QueueState& queue, const View& view);

// With the queue locked.

/// Enqueues a copy of a view to one of the same shape and orientation, within the queue's device.
void enqueue_copy(QueueState& queue, const trine_view& source, const trine_view& target,
                  uint32_t element);
/// Enqueues an elementwise command, its views folded into as few dimensions as there can be.
void enqueue(QueueState& queue, trine_elementwise& command, const char* what);

}  // namespace trine::detail
