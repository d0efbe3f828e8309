// A backend's ladders: rows shown as rungs, questions about them answered, calls launched.
#include "backends/gpu/ladder.hpp"

#include <cstdio>

#include "backends/gpu/objects.hpp"
#include "backends/kit/border.hpp"

namespace trine::gpu {
namespace {

constexpr uint32_t kOperations = 3;

struct Ladders {
  Ladder of[kOperations];
  explicit Ladders(Backends backend) {
    for (const auto rows : {reduce_rows(), transpose_rows(), gemm_rows()}) {
      for (const Row& row : rows) {
        if (row.backends & backend) add(of[row.operation - 1], row);
      }
    }
  }
  static void add(Ladder& ladder, const Row& row) {
    if (ladder.count == kMaxRungs) return;
    trine_rung rung{};
    rung.size = sizeof rung;
    rung.numerics = row.numerics;
    rung.name = row.name;
    rung.summary = row.summary;
    rung.requirement = row.requirement;
    rung.parameters = row.parameters.data();
    rung.parameter_count = static_cast<int32_t>(row.parameters.size());
    rung.parameter_stride = sizeof(trine_parameter);
    ladder.rungs[ladder.count] = rung;
    ladder.rows[ladder.count++] = &row;
  }
};

const Row& row_of(trine_device& device, const trine_selection& selection, const trine_call& call) {
  const Ladder* ladder = ladder_of(device.target.backend, call.operation);
  if (!ladder) kit::fail(TRINE_INVALID_ARGUMENT, "no operation %u", call.operation);
  if (selection.rung < 0 || selection.rung >= ladder->count) {
    kit::fail(TRINE_NOT_FOUND, "no rung %d; the ladder has %d", selection.rung, ladder->count);
  }
  const Row& row = *ladder->rows[selection.rung];
  for (size_t p = 0; p < row.parameters.size(); ++p) {
    if (selection.values[p] < 0 || selection.values[p] >= row.parameters[p].value_count) {
      kit::fail(TRINE_NOT_FOUND, "rung %s: parameter %s has no value %d", row.name,
                row.parameters[p].name, selection.values[p]);
    }
  }
  return row;
}

/// The call with a descriptor of the size that we know; the storage is used where the caller's differs.
struct Known {
  trine_call call;
  union {
    trine_reduce reduce;
    trine_transpose transpose;
    trine_gemm gemm;
  };
  explicit Known(const trine_call& foreign) : call(foreign) {
    const auto know = [&]<class T>(T& storage) {
      call.descriptor = kit::read(static_cast<const T*>(foreign.descriptor), storage);
    };
    switch (call.operation) {
      case TRINE_REDUCE: know(reduce); break;
      case TRINE_TRANSPOSE: know(transpose); break;
      case TRINE_GEMM: know(gemm); break;
      default: kit::fail(TRINE_INVALID_ARGUMENT, "no operation %u", call.operation);
    }
    if (!call.descriptor)
      kit::fail(TRINE_UNSUPPORTED, "the operation asks for what this backend can't know");
  }
  Known(const Known&) = delete;

  bool computes_in(uint32_t dtype) const {
    if (call.operation == TRINE_GEMM)
      return static_cast<const trine_gemm*>(call.descriptor)->dtype == dtype;
    const auto* sums = static_cast<const trine_reduce*>(call.descriptor);
    return call.operation == TRINE_REDUCE && (sums->dtype == dtype || sums->result_dtype == dtype);
  }
};

/// Reasons that hold for every rung, and then the row's own.
const char* reason_against(trine_device& device, const Row& row, const Request& request,
                           const Known& known) {
  if (const char* reason = device.lacks(row)) return reason;
  if (known.computes_in(TRINE_F64) && !device.target.has(TRINE_CAN_F64)) {
    return "the device has no double precision";
  }
  if (row.numerics == TRINE_REPRODUCIBLE &&
      (known.computes_in(TRINE_F32) || known.computes_in(TRINE_F64)) &&
      !device.target.has(TRINE_CAN_REPRODUCE)) {
    return "the device's arithmetic failed the probe, so its bits would differ";
  }
  if (row.refuses) {
    if (const char* reason = row.refuses(request)) return reason;
  }
  const Checked checked = check_itself(device, row);
  // Whoever names a rung that doesn't build hears of a defect, not of a refusal.
  if (checked.verdict == Checked::kBroken) kit::fail(TRINE_BACKEND_ERROR, "%s", checked.why);
  return checked.why;
}

/// Of the rungs that would take the call, one whose self-check has failed here: what is wrong with it.
const char* left_out(const trine_device& device, const Ladder& ladder, const trine_call& call) {
  for (int r = 0; r < ladder.count; ++r) {
    const Row& row = *ladder.rows[r];
    const char* why = known_check(device, row).why;
    const trine_selection first{};
    if (why && !(row.refuses && row.refuses({device.target, first, call, nullptr}))) return why;
  }
  return nullptr;
}

}  // namespace

const Ladder* ladder_of(Backends backend, uint32_t operation) {
  static const Ladders cuda(kCuda), opencl(kOpencl);
  if (operation < 1 || operation > kOperations) return nullptr;
  return &(backend == kCuda ? cuda : opencl).of[operation - 1];
}

trine_status refuses(trine_device& device, const trine_selection& selection, const trine_call& call,
                     char* reason, size_t reason_bytes) {
  const Known known(call);
  const Row& row = row_of(device, selection, call);
  const Request request{device.target, selection, known.call, nullptr};
  const char* against = reason_against(device, row, request, known);
  if (reason && reason_bytes) std::snprintf(reason, reason_bytes, "%s", against ? against : "");
  if (!against) return TRINE_OK;
  return kit::report(TRINE_UNSUPPORTED, "rung %s: %s", row.name, against);
}

void choose(trine_device& device, const trine_call& call, trine_selection& selection) {
  const Known known(call);
  const Row* row = choose_row(device.target, known.call, selection);
  const Ladder* ladder = ladder_of(device.target.backend, call.operation);
  selection.rung = -1;
  for (int r = 0; r < ladder->count; ++r) {
    if (ladder->rows[r] == row) selection.rung = r;
  }
  if (selection.rung < 0) kit::fail(TRINE_UNSUPPORTED, "no rung of this device takes the call");
  const Request request{device.target, selection, known.call, nullptr};
  if (const char* against = reason_against(device, *row, request, known)) {
    kit::fail(TRINE_UNSUPPORTED, "rung %s: %s", row->name, against);
  }
  if (const char* why = left_out(device, *ladder, known.call)) selection.why = why;
}

uint64_t workspace_bytes(trine_device& device, const trine_selection& selection,
                         const trine_call& call) {
  const Known known(call);
  const Row& row = row_of(device, selection, call);
  return row.workspace_bytes ? row.workspace_bytes({device.target, selection, known.call, nullptr})
                             : 0;
}

void launch(trine_queue& queue, const trine_selection& selection, const trine_call& call,
            const trine_workspace* workspace) {
  trine_device& device = queue.device;
  const Known known(call);
  const Row& row = row_of(device, selection, call);
  if (const char* reason = device.lacks(row)) {
    kit::fail(TRINE_UNSUPPORTED, "rung %s: %s", row.name, reason);
  }
  Plan plan;
  row.plan({device.target, selection, known.call, workspace}, plan);
  queue.launch(row, plan);
}

}  // namespace trine::gpu
