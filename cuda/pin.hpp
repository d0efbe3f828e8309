// Host memory of the program, made known to the driver. The driver takes a range once, but programs
// wrap what they have wrapped: ranges are counted, for all devices of the process.
#pragma once

#include "cuda/objects.hpp"

namespace trine::cuda {

struct Pin;

/// Whether the driver knows the whole range as one, pinned by whomever.
bool is_pinned(const void* begin, uint64_t bytes);

/// Pins [host, host + bytes). nullptr: the program has pinned it already, and will unpin it. Refuses
/// a range of which another wrapped or pinned range covers a part: the driver can't add to it.
Pin* pin(Device& device, void* host, uint64_t bytes);

/// Gives back what pin() gave; the last holder's unpins.
void unpin(Pin* pin);

}  // namespace trine::cuda
