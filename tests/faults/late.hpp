// Copies between a device and ordinary host memory, behind an event that comes late.
#pragma once

#include "backends/abi.h"

namespace faults {

/// Checks that they take their source as it is when the queue comes to them, whatever their size
/// and shape, and that they don't hold up the caller of a device that says so.
void copy_late(const trine_backend& backend);

}  // namespace faults
