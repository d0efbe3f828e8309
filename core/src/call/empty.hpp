// Calls on 0-sized views, which no rung ever sees: nothing to do, or identities to fill in.
#pragma once

#include "core/src/runtime/state.hpp"

namespace trine::detail {

/// True when the call was one, and is enqueued or done. The queue is locked.
bool run_empty(QueueState& queue, const trine_call& call);

}  // namespace trine::detail
