// Copies between devices, through host memory, without blocking the caller.
#pragma once

#include "pieces.hpp"
#include "state.hpp"

namespace trine::detail {

/// In `queue`'s order, which belongs to either end. Views are checked.
void copy_between(QueueState& queue, BufferState& source, const trine_view& from,
                  BufferState& target, const trine_view& to, const Pieces& pieces);

}  // namespace trine::detail
