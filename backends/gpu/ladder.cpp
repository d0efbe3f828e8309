// A backend's ladders: variants shown as rungs, questions about them answered, calls launched.
#include "backends/gpu/ladder.hpp"

#include <cstdio>

#include "backends/gpu/objects.hpp"
#include "backends/kit/abi_struct.hpp"

namespace trine::gpu {
namespace {

struct Ladders {
  Ladder of[TRINE_OPERATION_COUNT];
  explicit Ladders(Backends backend) {
    for (uint32_t operation : {TRINE_OPERATIONS(TRINE_VALUE)})
      for (const Variant& variant : variants_of(operation))
        if (variant.backends & backend) add(of[operation - 1], variant);
  }
  static void add(Ladder& ladder, const Variant& variant) {
    trine_rung rung{};
    rung.size = sizeof rung;
    rung.numerics = variant.numerics;
    rung.name = variant.name;
    rung.summary = variant.summary;
    rung.requirement = variant.requirement;
    rung.parameters = variant.parameters.data();
    rung.parameter_count = static_cast<int32_t>(variant.parameters.size());
    rung.parameter_stride = sizeof(trine_parameter);
    rung.takes = variant.takes;
    ladder.rungs[ladder.count] = rung;
    ladder.variants[ladder.count++] = &variant;
  }
};

const Variant& row_of(trine_device& device, const trine_selection& selection,
                      const trine_call& call) {
  const Ladder* ladder = ladder_of(device.target.backend, call.operation);
  if (!ladder) kit::fail(TRINE_INVALID_ARGUMENT, "no operation %u", call.operation);
  if (selection.rung < 0 || selection.rung >= ladder->count) {
    kit::fail(TRINE_NOT_FOUND, "no rung %d; the ladder has %d", selection.rung, ladder->count);
  }
  const Variant& variant = *ladder->variants[selection.rung];
  for (size_t p = 0; p < variant.parameters.size(); ++p) {
    if (selection.values[p] < 0 || selection.values[p] >= variant.parameters[p].value_count) {
      kit::fail(TRINE_NOT_FOUND, "rung %s: parameter %s has no value %d", variant.name,
                variant.parameters[p].name, selection.values[p]);
    }
  }
  return variant;
}

/// The call with a descriptor of the size that we know; the storage is used where the caller's
/// differs.
struct Known {
  trine_call call;
  union {
    TRINE_DESCRIPTOR_MEMBERS
  };
  explicit Known(const trine_call& foreign) : call(foreign) {
    const auto know = [&]<class T>(T& storage) {
      call.descriptor = kit::read(static_cast<const T*>(foreign.descriptor), storage);
    };
    switch (call.operation) {
#define TRINE_KNOW(VALUE, word, ...) \
  case TRINE_##VALUE: know(word); break;
      TRINE_OPERATIONS(TRINE_KNOW)
#undef TRINE_KNOW
      default: kit::fail(TRINE_INVALID_ARGUMENT, "no operation %u", call.operation);
    }
    if (!call.descriptor)
      kit::fail(TRINE_UNSUPPORTED, "the operation asks for what this backend can't know");
  }
  Known(const Known&) = delete;
};

/// The same for this device: is there code for it, and does the rung's self-check pass?
const char* reason_against(trine_device& device, const Variant& variant, const Request& request) {
  if (const char* reason = device.lacks(variant)) return reason;
  if (const char* reason = gpu::reason_against(variant, request)) return reason;
  const Checked checked = check_itself(device, variant);
  // A caller that names a rung which doesn't build gets an error, not a refusal.
  if (checked.verdict == Checked::kBroken) kit::fail(TRINE_BACKEND_ERROR, "%s", checked.why);
  return checked.why;
}

/// The reason why a rung's self-check has failed here, for the first such rung that would take the
/// call.
const char* left_out(const trine_device& device, const Ladder& ladder, const trine_call& call) {
  for (int r = 0; r < ladder.count; ++r) {
    const Variant& variant = *ladder.variants[r];
    const char* why = known_check(device, variant).why;
    const trine_selection first{};
    if (why && !gpu::reason_against(variant, {device.target, first, call, nullptr})) return why;
  }
  return nullptr;
}

}  // namespace

const Ladder* ladder_of(Backends backend, uint32_t operation) {
  static const Ladders cuda(kCuda), opencl(kOpencl);
  if (operation < 1 || operation > TRINE_OPERATION_COUNT) return nullptr;
  return &(backend == kCuda ? cuda : opencl).of[operation - 1];
}

trine_status refuses(trine_device& device, const trine_selection& selection, const trine_call& call,
                     char* reason, size_t reason_bytes) {
  const Known known(call);
  const Variant& variant = row_of(device, selection, call);
  const Request request{device.target, selection, known.call, nullptr};
  const char* against = reason_against(device, variant, request);
  if (reason && reason_bytes) std::snprintf(reason, reason_bytes, "%s", against ? against : "");
  if (!against) return TRINE_OK;
  return kit::report(TRINE_UNSUPPORTED, "rung %s: %s", variant.name, against);
}

void choose(trine_device& device, const trine_call& call, trine_selection& selection) {
  const Known known(call);
  const Variant* variant = choose_variant(device.target, known.call, selection);
  const Ladder* ladder = ladder_of(device.target.backend, call.operation);
  selection.rung = -1;
  for (int r = 0; r < ladder->count; ++r) {
    if (ladder->variants[r] == variant) selection.rung = r;
  }
  if (selection.rung < 0) kit::fail(TRINE_UNSUPPORTED, "no rung of this device takes the call");
  const Request request{device.target, selection, known.call, nullptr};
  if (const char* against = reason_against(device, *variant, request)) {
    kit::fail(TRINE_UNSUPPORTED, "rung %s: %s", variant->name, against);
  }
  if (const char* why = left_out(device, *ladder, known.call)) selection.why = why;
}

uint64_t workspace_bytes(trine_device& device, const trine_selection& selection,
                         const trine_call& call) {
  const Known known(call);
  const Variant& variant = row_of(device, selection, call);
  return variant.workspace_bytes
             ? variant.workspace_bytes({device.target, selection, known.call, nullptr})
             : 0;
}

void launch(trine_queue& queue, const trine_selection& selection, const trine_call& call,
            const trine_workspace* workspace) {
  trine_device& device = queue.device;
  const Known known(call);
  const Variant& variant = row_of(device, selection, call);
  if (const char* reason = device.lacks(variant)) {
    kit::fail(TRINE_UNSUPPORTED, "rung %s: %s", variant.name, reason);
  }
  Plan plan;
  variant.plan({device.target, selection, known.call, workspace}, plan);
  queue.launch(variant, plan);
}

}  // namespace trine::gpu
