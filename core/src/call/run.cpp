#include "run.hpp"

#include <algorithm>
#include <cstring>

#include "commands.hpp"
#include "rungs.hpp"

namespace trine {
namespace detail {
namespace {

Choice choice_of(std::shared_ptr<DeviceState> device, Operation operation,
                 const Selected& selected) {
  Choice choice;
  choice.device = Access::device(std::move(device));
  choice.operation = operation;
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
                  "querying the workspace's size");
  }
  return bytes;
}

/// A pack's rung on a backend without native queues: core runs it in the queue's order.
struct PackCall : kit::Allocated {
  QueueState* queue;  ///< kept alive: its destructor waits for the queue
  const trine_pack* pack;
  trine_native native;
  void* state;
  trine_selection selection;
  trine_workspace space;
  uint32_t operation;
  Descriptor descriptor;

  static void run(void* self) {
    const std::unique_ptr<PackCall> made(static_cast<PackCall*>(self));
    const trine_call call{sizeof(trine_call), made->operation, &made->descriptor};
    const trine_status status =
        made->pack->launch(&made->native, made->state, &made->selection, &call, &made->space);
    if (status != TRINE_OK) made->queue->note_failure(status, made->pack->last_error());
  }
};

void launch_pack(QueueState& queue, const Selected& selected, const Checked& checked,
                 const trine_workspace& space) {
  const trine_backend& api = queue.device().api;
  const registry::Pack& pack = *selected.rung->pack;
  const trine_native native = native_of(queue.device(), api.queue_native(queue.timeline->queue));
  void* const state = queue.pack_state(pack, native);
  if (!api.queue_call) {
    const trine_status status =
        pack.api.launch(&native, state, &selected.selection, &checked.call, &space);
    if (status != TRINE_OK) {
      queue.scratch_is_clean = false;
      fail(static_cast<Status>(status), queue.device().id, ": launching ", selected.rung->row.name,
           ": ", pack.api.last_error());
    }
    return;
  }
  std::unique_ptr<PackCall> made(new PackCall{
      {}, &queue, &pack.api, native, state, selected.selection, space, checked.call.operation, {}});
  std::memcpy(&made->descriptor, &checked.descriptor, checked.is.descriptor_bytes);
  queue.expect(api.queue_call(queue.timeline->queue, &PackCall::run, made.get()),
               "enqueueing a pack's rung");
  static_cast<void>(made.release());
}

/// Without elements no rung is asked: core does nothing, or writes the neutral results.
bool run_empty(QueueState& queue, const Checked& checked) {
  const Empty empty = checked.is.empty(checked.descriptor);
  if (empty.fill)
    queue.fill(*empty.fill, &empty.bits, empty.element, "writing the result of an empty reduction");
  return empty.is_empty;
}

/// Memory for the rung's workspace and, behind it, for the call's temporary. The control bytes at
/// the start are only for rungs.
trine_workspace space_for(QueueState& queue, std::unique_lock<std::mutex>& lock, Descriptor& all,
                          uint64_t bytes) {
  if (!all.temporary) return queue.workspace(bytes, lock);
  constexpr uint64_t kAlignment = 256;
  trine_view& view = *all.temporary;
  bytes = std::max(bytes, uint64_t{TRINE_CONTROL_BYTES});
  view.offset = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const auto elements = static_cast<uint64_t>(view.rows * view.cols * view.batch);
  trine_workspace space = queue.workspace(view.offset + elements * all.element, lock);
  view.memory = space.memory;
  space.bytes = view.offset;
  return space;
}

/// Launches a checked call. `has_space` is set when its workspace is there: before that, nothing is
/// enqueued.
void hand_over(QueueState& queue, Checked& checked, const Selected& selected, bool& has_space) {
  std::unique_lock lock(queue.timeline->mutex);
  Logged entry{.operation = checked.call.operation,
               .what = name(checked.is.operation).data(),
               .rung = selected.rung->row.name};
  checked.is.log(checked.descriptor, entry);
  queue.log(entry);
  if (run_empty(queue, checked)) return;
  const trine_call& call = checked.call;
  Descriptor& all = checked.descriptor;
  const trine_workspace space = [&] {
    try {
      return space_for(queue, lock, all, workspace_bytes(queue.device(), selected, call));
    } catch (...) {
      --queue.logged;
      throw;
    }
  }();
  has_space = true;
  if (all.temporary && all.is_input) enqueue_copy(queue, all.source, *all.temporary, all.element);
  if (selected.rung->pack) {
    launch_pack(queue, selected, checked, space);
  } else {
    queue.expect(
        queue.device().api.launch(queue.timeline->queue, &selected.selection, &call, &space),
        "launching");
  }
  if (!all.is_followed) return;
  if (all.temporary) all.then.v = *all.temporary;
  enqueue(queue, all.then, "scaling a product");
}

const registry::Rung& rung_of(const Choice& choice) {
  const registry::Ladder& ladder =
      Access::some(choice.device).backend.ladder(static_cast<uint32_t>(choice.operation));
  if (choice.rung_index >= ladder.size()) refuse("This Choice names no rung of its device.");
  return *ladder[choice.rung_index];
}

}  // namespace

Choice run(Queue& handle, const AnyOperation& operation, std::string_view rung) {
  return entry([&] {
    QueueState& queue = Access::use(handle);
    Checked call(operation, &queue.device(), Mode::run);
    Selected selected = select(queue.device(), call, rung);
    for (const View* view : operation.views()) use(queue, *view);
    for (const Scalar* scalar : operation.scalars())
      if (scalar) use(queue, scalar->element());
    bool has_space = false;
    try {
      hand_over(queue, call, selected, has_space);
    } catch (const Error& error) {
      if (!rung.empty() || selected.rung->row.numerics != TRINE_FAST || has_space ||
          error.status() != Status::out_of_memory)
        throw;
      call.descriptor.reduce.numerics = TRINE_REPRODUCIBLE;  // each begins alike
      selected = select(queue.device(), call, {});
      selected.why = "the workspace of the fast rung doesn't fit in the memory that is free";
      hand_over(queue, call, selected, has_space);
    }
    return choice_of(queue.timeline->device, call.is.operation, selected);
  });
}

Choice choose(const Device& device, const AnyOperation& operation, std::string_view rung) {
  return entry([&] {
    const DeviceState& state = Access::use(device);
    const Checked call(operation, &state, Mode::plan);
    return choice_of(Access::state(device), call.is.operation, select(state, call, rung));
  });
}

std::string tuning_key(const AnyOperation& operation) {
  return entry([&] { return text_of(tuning_key_of(plan_of(operation))); });
}

}  // namespace detail

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
