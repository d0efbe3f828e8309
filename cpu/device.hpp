// What is known of the processor: its name, the CPUs this process may use, memory, and whether its
// arithmetic is the one that the numerics are stated in.
#pragma once

#include "backends/abi.h"

namespace trine::cpu {

// Fills everything but compute_units, which the executor knows.
void describe_processor(trine_device_facts& facts);

}  // namespace trine::cpu
