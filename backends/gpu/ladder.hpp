// The ladders of one GPU backend: its share of the variants as the contract's rungs, and what the
// contract asks of a rung.
#pragma once

#include "backends/gpu/objects.hpp"

namespace trine::gpu {

/// Variants of `operation` that `backend` has, in the variants' order; rungs as the contract wants
/// them.
struct Ladder {
  int count = 0;
  const Variant* variants[kMaxRungs];
  trine_rung rungs[kMaxRungs];
};
const Ladder* ladder_of(Backends backend, uint32_t operation);

/// TRINE_UNSUPPORTED with a reason, or TRINE_OK. Throws where the selection or call is nonsense.
trine_status refuses(trine_device& device, const trine_selection& selection, const trine_call& call,
                     char* reason, size_t reason_bytes);
void choose(trine_device& device, const trine_call& call, trine_selection& selection);
uint64_t workspace_bytes(trine_device& device, const trine_selection& selection,
                         const trine_call& call);
void launch(trine_queue& queue, const trine_selection& selection, const trine_call& call,
            const trine_workspace* workspace);

}  // namespace trine::gpu
