// run() and choose(): check, select, hand over.
#include <algorithm>
#include <cstring>

#include "check.hpp"
#include "core/src/runtime/handles.hpp"
#include "empty.hpp"
#include "select.hpp"

namespace trine {
namespace detail {
namespace {

template <class Descriptor>
trine_call call_of(Operation operation, const Descriptor& descriptor) {
  return {sizeof(trine_call), static_cast<uint32_t>(operation), &descriptor};
}

Choice choice_of(std::shared_ptr<DeviceState> device, const trine_call& call,
                 const Selected& selected) {
  Choice choice;
  choice.device = Access::device(std::move(device));
  choice.operation = static_cast<Operation>(call.operation);
  choice.numerics = static_cast<Numerics>(selected.rung->row.numerics);
  choice.why = selected.why;
  choice.rung_index = selected.index;
  std::copy(std::begin(selected.selection.values), std::end(selected.selection.values),
            choice.values);
  return choice;
}

uint64_t workspace_bytes(const DeviceState& device, const Selected& selected,
                         const trine_call& call) {
  uint64_t bytes = 0;
  if (const registry::Pack* pack = selected.rung->pack) {
    const trine_native native = native_of(device, nullptr);
    const trine_status status =
        pack->api.workspace_bytes(&native, &selected.selection, &call, &bytes);
    if (status != TRINE_OK) {
      fail(static_cast<Status>(status), device.id, ": asking ", selected.rung->row.name,
           " for its workspace: ", pack->api.last_error());
    }
  } else {
    device.expect(device.api.workspace_bytes(device.handle, &selected.selection, &call, &bytes),
                  "asking for the workspace's size");
  }
  return bytes;
}

/// A pack's rung on a backend without native queues: core runs it in the queue's order.
struct PackCall : kit::Allocated {
  QueueState* queue;  ///< alive: its end waits for the queue to pass
  const trine_pack* pack;
  trine_native native;
  void* state;
  trine_selection selection;
  trine_workspace space;
  uint32_t operation;
  union {
    trine_reduce reduce;
    trine_transpose transpose;
    trine_gemm gemm;
  };

  static void run(void* self) {
    const std::unique_ptr<PackCall> made(static_cast<PackCall*>(self));
    const trine_call call{sizeof(trine_call), made->operation, &made->reduce};
    const trine_status status =
        made->pack->launch(&made->native, made->state, &made->selection, &call, &made->space);
    if (status != TRINE_OK) made->queue->note_failure(status, made->pack->last_error());
  }
};

std::size_t descriptor_bytes(uint32_t operation) {
  return operation == TRINE_REDUCE      ? sizeof(trine_reduce)
         : operation == TRINE_TRANSPOSE ? sizeof(trine_transpose)
                                        : sizeof(trine_gemm);
}

void launch_pack(QueueState& queue, const Selected& selected, const trine_call& call,
                 const trine_workspace& space) {
  const trine_backend& api = queue.device().api;
  const registry::Pack& pack = *selected.rung->pack;
  const trine_native native = native_of(queue.device(), api.queue_native(queue.line->queue));
  void* const state = queue.pack_state(pack, native);
  if (!api.queue_call) {
    const trine_status status = pack.api.launch(&native, state, &selected.selection, &call, &space);
    if (status != TRINE_OK) {
      queue.scratch_is_clean = false;
      fail(static_cast<Status>(status), queue.device().id, ": launching ", selected.rung->row.name,
           ": ", pack.api.last_error());
    }
    return;
  }
  auto made = std::make_unique<PackCall>();
  made->queue = &queue;
  made->pack = &pack.api;
  made->native = native;
  made->state = state;
  made->selection = selected.selection;
  made->space = space;
  made->operation = call.operation;
  std::memcpy(&made->reduce, call.descriptor, descriptor_bytes(call.operation));
  queue.expect(api.queue_call(queue.line->queue, &PackCall::run, made.get()),
               "handing over a pack's rung");
  static_cast<void>(made.release());
}

Logged logged(const trine_call& call, const Selected& selected) {
  Logged entry;
  entry.operation = call.operation;
  entry.rung = selected.rung->row.name;
  const auto shape = [&](const trine_view& view) {
    entry.extents[0] = view.rows;
    entry.extents[1] = view.cols;
  };
  if (call.operation == TRINE_REDUCE) {
    const auto& reduce = *static_cast<const trine_reduce*>(call.descriptor);
    entry.what = "reduce";
    entry.function = name(static_cast<Function>(reduce.function)).data();
    entry.dtype = name(static_cast<Dtype>(reduce.dtype)).data();
    shape(reduce.input);
  } else if (call.operation == TRINE_TRANSPOSE) {
    const auto& transpose = *static_cast<const trine_transpose*>(call.descriptor);
    entry.what = "transpose";
    shape(transpose.input);
  } else {
    const auto& gemm = *static_cast<const trine_gemm*>(call.descriptor);
    entry.what = "gemm";
    entry.dtype = name(static_cast<Dtype>(gemm.dtype)).data();
    shape(gemm.c);
    entry.extents[2] = gemm.a.cols;
  }
  return entry;
}

/// Hands a checked call over; the queue is locked by `lock`.
void hand_over(QueueState& queue, std::unique_lock<std::mutex>& lock, const trine_call& call,
               const Selected& selected) {
  queue.log(logged(call, selected));
  if (run_empty(queue, call)) return;
  const trine_workspace space =
      queue.workspace(workspace_bytes(queue.device(), selected, call), lock);
  if (selected.rung->pack) return launch_pack(queue, selected, call, space);
  queue.expect(queue.device().api.launch(queue.line->queue, &selected.selection, &call, &space),
               "launching");
}

template <class Descriptor, class Struct, class... Views>
Choice run(Queue& handle, Operation kind, const Struct& operation, std::string_view rung,
           const Views&... views) {
  return entry([&] {
    QueueState& queue = Access::use(handle);
    Descriptor descriptor;
    check(operation, &queue.device(), Mode::run, descriptor);
    const trine_call call = call_of(kind, descriptor);
    const Selected selected = select(queue.device(), call, rung);
    const auto use = [&](const View& view) {
      if (BufferState* buffer = Access::state(view.buffer).get()) buffer->used_on(queue.line);
    };
    (use(views), ...);
    {
      std::unique_lock lock(queue.line->mutex);
      hand_over(queue, lock, call, selected);
    }
    return choice_of(queue.line->device, call, selected);
  });
}

template <class Descriptor, class Struct>
Choice plan(const Device& device, Operation kind, const Struct& operation, std::string_view rung) {
  return entry([&] {
    const DeviceState& state = Access::use(device);
    Descriptor descriptor;
    check(operation, &state, Mode::plan, descriptor);
    const trine_call call = call_of(kind, descriptor);
    return choice_of(Access::state(device), call, select(state, call, rung));
  });
}

const registry::Rung& rung_of(const Choice& choice) {
  const registry::Ladder& ladder =
      Access::some(choice.device).backend.ladder(static_cast<uint32_t>(choice.operation));
  if (choice.rung_index >= ladder.size()) refuse("This Choice names no rung of its device.");
  return *ladder[choice.rung_index];
}

}  // namespace
}  // namespace detail

Choice run(Queue& queue, const Reduce& operation, std::string_view rung) {
  return detail::run<trine_reduce>(queue, Operation::reduce, operation, rung, operation.input,
                                   operation.output);
}
Choice run(Queue& queue, const Transpose& operation, std::string_view rung) {
  return detail::run<trine_transpose>(queue, Operation::transpose, operation, rung, operation.input,
                                      operation.output);
}
Choice run(Queue& queue, const Gemm& operation, std::string_view rung) {
  return detail::run<trine_gemm>(queue, Operation::gemm, operation, rung, operation.a, operation.b,
                                 operation.c);
}

Choice choose(const Device& device, const Reduce& operation, std::string_view rung) {
  return detail::plan<trine_reduce>(device, Operation::reduce, operation, rung);
}
Choice choose(const Device& device, const Transpose& operation, std::string_view rung) {
  return detail::plan<trine_transpose>(device, Operation::transpose, operation, rung);
}
Choice choose(const Device& device, const Gemm& operation, std::string_view rung) {
  return detail::plan<trine_gemm>(device, Operation::gemm, operation, rung);
}

std::string_view Choice::rung_name() const { return detail::rung_of(*this).row.name; }
std::string Choice::rung() const {
  return detail::entry([&] { return detail::rung_text(detail::rung_of(*this), values); });
}

std::string_view Choice::pack() const {
  const registry::Pack* pack = detail::rung_of(*this).pack;
  return pack ? std::string_view(pack->name) : std::string_view();
}

std::string Choice::sentence() const {
  return detail::entry([&] {
    return detail::cat(name(operation), " on ", device.id(), " by ", rung(), " (", name(numerics),
                       pack().empty() ? "" : ", pack ", pack(), "): ", why, ".");
  });
}

}  // namespace trine
