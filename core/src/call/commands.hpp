// Commands that operations need around their launch.
#pragma once

#include <trine/elementwise.hpp>

#include "core/src/runtime/state.hpp"

namespace trine::detail {

/// Called before the queue is locked: the queue is about to use the view's memory, if it has any.
void use(QueueState& queue, const View& view);

// Called with the queue locked.

/// Enqueues a copy of a view to one of the same shape and orientation, within the queue's device.
void enqueue_copy(QueueState& queue, const trine_view& source, const trine_view& target,
                  uint32_t element);
/// Enqueues an elementwise command, its views folded into as few dimensions as there can be.
void enqueue(QueueState& queue, trine_elementwise& command, const char* what);
/// axpby() and scalar().
void enqueue_axpby(Queue& queue, const Scalar& alpha, const View& x, const Scalar& beta,
                   const View& y);
void enqueue_scalar(Queue& queue, Arithmetic function, const Scalar& x, const Scalar& y,
                    const View& result);

}  // namespace trine::detail
