// Queues inside: how they end with work in flight, their workspaces, and what they say on failure.
#include <algorithm>
#include <utility>

#include "rectangles.hpp"

namespace trine::detail {

Timeline::~Timeline() {
  if (tail && device->may_call()) device->api.event_destroy(tail);
}

EventState::~EventState() {
  const Uncancelled uncancelled;
  if (handle && device->may_call()) device->api.event_destroy(handle);
}

QueueState::QueueState(std::shared_ptr<DeviceState> on)
    : timeline(std::allocate_shared<Timeline>(kit::Allocator<Timeline>{}, std::move(on))) {}

/// Runs when nothing is in flight any more (or when the constructor of a handle failed).
QueueState::~QueueState() {
  if (!device().may_call()) return;
  for (const PackState& entry : pack_states) {
    if (entry.pack->api.state_destroy) entry.pack->api.state_destroy(entry.state);
  }
  if (scratch) device().api.buffer_free(scratch);
  for (trine_buffer* old : outgrown) device().api.buffer_free(old);
}

bool QueueState::passed() noexcept { return timeline->is_over(); }

void QueueState::retire(QueueState* state) noexcept {
  const Uncancelled uncancelled;
  state->helpers.clear();  // nobody is left to hear of their failures
  Timeline& timeline = *state->timeline;
  if (!timeline.queue || !timeline.device->may_call()) {
    delete state;
    return;
  }
  const trine_backend& api = timeline.device->api;
  bool in_flight = false;
  {
    const std::lock_guard lock(timeline.mutex);
    if (timeline.can_be_asked() && api.queue_query(timeline.queue) == TRINE_NOT_READY) {
      trine_event* tail = nullptr;
      if (api.event_create(timeline.device->handle, 0, &tail) == TRINE_OK &&
          api.event_record(tail, timeline.queue) == TRINE_OK &&
          api.queue_flush(timeline.queue) == TRINE_OK) {
        timeline.tail = tail;
        in_flight = true;
      } else {  // no memory for a deferred end: end now
        if (tail) api.event_destroy(tail);
        timeline.device->notice(api.queue_wait(timeline.queue));
      }
    }
    api.queue_destroy(timeline.queue);
    timeline.queue = nullptr;
  }
  if (in_flight) {
    defer(state);
  } else {
    delete state;
  }
  collect();
}

std::string QueueState::history() const {
  if (logged == 0) return "nothing was enqueued since the last successful wait()";
  std::string text = "enqueued since the last successful wait(): ";
  const uint64_t shown = std::min(logged, kShown);
  if (logged > shown) append(text, cat(logged - shown, " others, then "));
  for (uint64_t i = logged - shown; i < logged; ++i) {
    const Logged& entry = entries[i % kLogged];
    append(text, i == logged - shown ? "" : "; ");
    append(text, entry.what);
    if (entry.function) append(text, cat(" ", entry.function));
    if (entry.dtype) append(text, cat(" ", entry.dtype));
    if (entry.operation) append(text, cat(" ", entry.extents[0], "x", entry.extents[1]));
    if (entry.extents[2] >= 0) append(text, cat("x", entry.extents[2]));
    if (entry.rung) append(text, cat(" by ", entry.rung));
  }
  return text;
}

void QueueState::raise(trine_status status, std::string_view what) {
  scratch_is_clean = false;  // whatever was running may have left its workspace as it was
  device().raise(status, cat(what, " (", history(), ")"));
}

void QueueState::note_failure(trine_status status, const char* sentence) noexcept {
  const std::lock_guard lock(failure_mutex);
  if (failure != TRINE_OK) return;
  try {
    failure_text = sentence;
  } catch (...) { failure_text.clear(); }
  failure = status;
}

namespace {

/// Waits for a helper's work; a failure there becomes one of `queue`.
void finish(QueueState& queue, QueueState& helper) noexcept {
  const DeviceState& far = helper.device();
  const std::lock_guard lock(helper.timeline->mutex);
  const trine_status status = far.api.queue_wait(helper.timeline->queue);
  if (status == TRINE_OK) return;
  far.notice(status);
  try {
    queue.note_failure(
        status,
        cat("a copy between devices failed on ", far.id, ": ", far.api.last_error()).c_str());
  } catch (...) { queue.note_failure(status, "a copy between devices failed"); }
}

}  // namespace

void QueueState::keep(std::shared_ptr<QueueState> helper, Helpers& finished) {
  const auto works = [](const std::shared_ptr<QueueState>& one) {
    const std::lock_guard lock(one->timeline->mutex);
    return one->device().api.queue_query(one->timeline->queue) == TRINE_NOT_READY;
  };
  const auto done = std::stable_partition(helpers.begin(), helpers.end(), works);
  for (auto one = done; one != helpers.end(); ++one) {
    finish(*this, **one);
    finished.push_back(*one);
  }
  helpers.erase(done, helpers.end());
  helpers.push_back(std::move(helper));
}

Helpers QueueState::finish_helpers() noexcept {
  if (helpers.empty()) return {};
  for (const std::shared_ptr<QueueState>& helper : helpers) finish(*this, *helper);
  return std::exchange(helpers, {});
}

void QueueState::throw_failure() {
  if (failure == TRINE_OK) return;
  const std::lock_guard lock(failure_mutex);
  const auto status = static_cast<Status>(failure.load());
  failure = TRINE_OK;
  scratch_is_clean = false;
  const std::string sentence = cat(device().id, ": ", failure_text, " (", history(), ")");
  logged = 0;
  throw Error(status, sentence);
}

trine_status QueueState::allocate_here(uint64_t bytes, trine_buffer** made) {
  const trine_backend& api = device().api;
  if (api.queue_allocate) return api.queue_allocate(timeline->queue, bytes, made);
  return api.buffer_allocate(device().handle, bytes, TRINE_MEMORY_DEVICE, made);
}

/// The queue's memory, at least so large; out_of_memory where there is none, and all is as it was.
trine_status QueueState::grow_scratch(uint64_t bytes) {
  if (bytes <= scratch_facts.bytes) return TRINE_OK;
  const trine_backend& api = device().api;
  // It gets half as much again, so that it needn't grow for each larger input.
  const uint64_t wanted = std::max(
      {bytes, scratch_facts.bytes + scratch_facts.bytes / 2, uint64_t{TRINE_CONTROL_BYTES}});
  std::unique_ptr<BufferState> old;
  if (scratch && timeline->is_adopted) {
    outgrown.reserve(outgrown.size() + 1);
  } else if (scratch) {
    old = std::make_unique<BufferState>(timeline->device);
    old->facts.kind = TRINE_MEMORY_DEVICE;
    old->used_on(timeline);
  }
  trine_buffer* grown = nullptr;
  trine_status status = allocate_here(wanted, &grown);
  if (status != TRINE_OK && wanted > bytes) {
    status = allocate_here(std::max(bytes, uint64_t{TRINE_CONTROL_BYTES}), &grown);
  }
  if (status != TRINE_OK) return status;
  trine_buffer_facts facts{};
  facts.size = sizeof facts;
  status = api.buffer_facts(grown, &facts);
  if (status != TRINE_OK) {
    api.buffer_free(grown);
    expect(status, "querying a workspace");
  }
  if (old) {
    old->handle = scratch;
    defer(old.release());  // what was enqueued may still use it
  } else if (scratch) {
    outgrown.push_back(scratch);
  }
  scratch = grown;
  scratch_facts = facts;
  scratch_is_clean = false;
  return TRINE_OK;
}

trine_workspace QueueState::workspace(uint64_t bytes, std::unique_lock<std::mutex>& lock) {
  trine_workspace space{};
  space.size = sizeof space;
  if (bytes == 0) return space;
  const trine_backend& api = device().api;
  const auto find_room = [&] {
    const Logged call = entries[--logged % kLogged];  // another thread's wait() may come between
    lock.unlock();
    const bool found = wait_for_memory(device(), TRINE_MEMORY_DEVICE);
    lock.lock();
    log(call);
    return found;
  };
  trine_status status = grow_scratch(bytes);
  while (status == TRINE_OUT_OF_MEMORY && find_room()) status = grow_scratch(bytes);
  expect(status, "allocating a workspace");
  if (!scratch_is_clean) {
    const uint64_t zero = 0;
    expect(
        api.fill(timeline->queue, scratch_facts.native, 0, TRINE_CONTROL_BYTES, &zero, sizeof zero),
        "zeroing a workspace");
    scratch_is_clean = !is_captured();  // a graph's replay zeroes it, and nothing before
  }
  space.memory = scratch_facts.native;
  space.bytes = scratch_facts.bytes;
  return space;
}

bool QueueState::is_captured() {
  int32_t captured = 0;
  const trine_backend& api = device().api;
  if (api.queue_is_captured)
    expect(api.queue_is_captured(timeline->queue, &captured),
           "asking whether the queue is captured");
  return captured != 0;
}

void QueueState::fill(const trine_view& view, const void* element, uint32_t bytes,
                      const char* what) {
  const trine_backend& api = device().api;
  const Rectangles rectangles = take_apart(view, view, bytes);
  const bool dense = rectangles.whole && rectangles.height * rectangles.outer == 1;
  if (!dense && api.fill_view)
    return expect(api.fill_view(timeline->queue, &view, element, bytes), what);
  // An old backend: a run of elements at a time.
  const auto run = [&](uint64_t offset, uint64_t width) {
    expect(api.fill(timeline->queue, view.memory, view.offset + offset, width, element, bytes),
           what);
  };
  if (!rectangles.whole) {
    for (int64_t b = 0; b < view.batch; ++b)
      for (int64_t i = 0; i < view.rows; ++i)
        for (int64_t j = 0; j < view.cols; ++j)
          run(bytes * static_cast<uint64_t>(b * view.batch_stride + i * view.row_stride +
                                            j * view.col_stride),
              bytes);
    return;
  }
  for (uint64_t i = 0; i < rectangles.outer; ++i)
    for (uint64_t row = 0; row < rectangles.height; ++row)
      run(i * rectangles.step.target + row * rectangles.pitch.target, rectangles.width);
}

void* QueueState::pack_state(const registry::Pack& pack, const trine_native& native) {
  if (!pack.api.state_create) return nullptr;
  for (const PackState& entry : pack_states) {
    if (entry.pack == &pack) return entry.state;
  }
  pack_states.reserve(pack_states.size() + 1);
  void* state = nullptr;
  const trine_status status = pack.api.state_create(&native, &state);
  if (status != TRINE_OK) {
    fail(static_cast<Status>(status), device().id, ": the pack ", pack.name,
         " can't prepare a queue: ", pack.api.last_error());
  }
  pack_states.push_back({&pack, state});
  return state;
}

QueueState& Access::use(const Queue& queue) {
  if (!queue.state_) refuse("This Queue is empty: make one of a device first.");
  queue.state_->device().check();
  return *queue.state_;
}

}  // namespace trine::detail
