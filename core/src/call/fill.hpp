// Elements written all over a view, in as few commands as the backend takes.
#pragma once

#include "core/src/runtime/state.hpp"

namespace trine::detail {

/// Enqueues; the queue is locked. `view` is canonical, touches an element, and its elements lie apart.
void fill_elements(QueueState& queue, const trine_view& view, const void* element, uint32_t bytes,
                   const char* what);

}  // namespace trine::detail
