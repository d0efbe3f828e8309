// Buffers: made, adopted, wrapped, and let go when the queues that use them have passed. Views.
#include <trine/buffer.hpp>

#include <algorithm>

#include "state.hpp"

namespace trine {
namespace detail {
namespace {

std::shared_ptr<BufferState> blank_buffer(std::shared_ptr<DeviceState> device) {
  return {new BufferState(std::move(device)), &BufferState::retire, kit::Allocator<BufferState>{}};
}

/// Lets the backend make the buffer: make(device handle, &buffer). A buffer of no bytes exists in
/// core alone, because not every driver has such buffers.
template <class Make>
std::shared_ptr<BufferState> make(std::shared_ptr<DeviceState> device, uint64_t bytes, Memory kind,
                                  const char* what, Make&& made) {
  auto state = blank_buffer(std::move(device));
  trine_buffer_facts& facts = state->facts;
  facts.size = sizeof facts;
  facts.kind = static_cast<uint32_t>(kind);
  if (bytes == 0) return state;
  const DeviceState& on = *state->device;
  on.expect(made(on.handle, &state->handle), what);
  on.expect(on.api.buffer_facts(state->handle, &facts), "querying a buffer");
  return state;
}

/// The result of ask(), which is called again as long as dropped memory becomes free.
template <class Ask>
trine_status ask_for_memory(const DeviceState& device, uint32_t kind, Ask&& ask) {
  for (;;) {
    const trine_status status = ask();
    if (status != TRINE_OUT_OF_MEMORY || !wait_for_memory(device, kind)) return status;
  }
}

}  // namespace

std::shared_ptr<BufferState> allocate(std::shared_ptr<DeviceState> device, uint64_t bytes,
                                      Memory kind) {
  const uint64_t most = device->facts.max_buffer_bytes;
  if (kind == Memory::device && most != 0 && bytes > most) {
    fail(Status::unsupported, device->id, ": a buffer of ", bytes,
         " bytes is larger than this device's largest, ", most, " bytes.");
  }
  collect();  // before asking for more
  const DeviceState& state = *device;
  const auto raw = static_cast<uint32_t>(kind);
  return make(std::move(device), bytes, kind, "allocating a buffer", [&](auto* on, auto** made) {
    return ask_for_memory(state, raw,
                          [&] { return state.api.buffer_allocate(on, bytes, raw, made); });
  });
}

Buffer memory_for(Queue& handle, uint64_t bytes) {
  return entry([&] {
    QueueState& queue = Access::use(handle);
    collect();
    const auto allocate_here = [&](auto*, auto** made) {
      return ask_for_memory(queue.device(), TRINE_MEMORY_DEVICE, [&] {
        const std::unique_lock lock(queue.timeline->mutex);
        return queue.allocate_here(bytes, made);
      });
    };
    Buffer buffer;
    Access::state(buffer) =
        make(queue.timeline->device, bytes, Memory::device, "allocating a buffer", allocate_here);
    return buffer;
  });
}

std::shared_ptr<BufferState> wrap(std::shared_ptr<DeviceState> device, void* host, uint64_t bytes) {
  const trine_backend& api = device->api;
  return make(std::move(device), bytes, Memory::wrapped, "wrapping host memory",
              [&](auto* on, auto** buffer) { return api.buffer_wrap(on, host, bytes, buffer); });
}

BufferState::~BufferState() {
  if (!device->may_call()) return;
  for (const Use& use : uses_) {
    if (use.moment) use.timeline->device->api.event_destroy(use.moment);
  }
  if (handle) device->api.buffer_free(handle);
}

void BufferState::used_on(const std::shared_ptr<Timeline>& timeline) {
  if (last_.load(std::memory_order_acquire) == timeline.get()) return;
  const std::lock_guard lock(mutex_);
  const auto same = [&](const Use& use) { return use.timeline == timeline; };
  if (std::ranges::none_of(uses_, same)) {
    // Nobody remembers for ever queues that are gone. One of them is perhaps the last user, and its
    // address free for another.
    last_.store(nullptr, std::memory_order_release);
    std::erase_if(uses_, [](const Use& use) {
      const std::unique_lock held(use.timeline->mutex, std::try_to_lock);
      return held && use.timeline->is_over();
    });
    uses_.push_back({timeline});
  }
  last_.store(timeline.get(), std::memory_order_release);
}

/// Has the queue passed what it had been given when the buffer was let go? A queue that somebody is
/// waiting for right now is asked later instead of waited for.
bool BufferState::has_passed(Use& use) noexcept {
  // The queue may be of another device: copies between devices use buffers of both.
  const DeviceState& on = *use.timeline->device;
  const trine_backend& api = on.api;
  if (use.passed) return true;
  if (use.moment) return use.passed = api.event_query(use.moment) != TRINE_NOT_READY;
  const std::unique_lock lock(use.timeline->mutex, std::try_to_lock);
  if (!lock) return false;
  if (!use.timeline->queue) return use.passed = use.timeline->is_over();
  if (!use.timeline->can_be_asked() || api.queue_query(use.timeline->queue) != TRINE_NOT_READY) {
    return use.passed = true;
  }
  trine_event* moment = nullptr;
  trine_status status = api.event_create(on.handle, 0, &moment);
  if (status == TRINE_OK) {
    status = api.event_record(moment, use.timeline->queue);
    if (status != TRINE_OK) api.event_destroy(moment);
  }
  // Nothing passes on a lost device any more; any other failure is tried again later.
  if (status != TRINE_OK) return use.passed = status == TRINE_DEVICE_LOST;
  on.notice(api.queue_flush(use.timeline->queue));
  use.moment = moment;
  return false;
}

bool BufferState::passed() noexcept {
  const std::lock_guard lock(mutex_);
  bool all = true;
  for (Use& use : uses_) all = has_passed(use) && all;
  return all;
}

void BufferState::retire(BufferState* state) noexcept {
  const Uncancelled uncancelled;
  // Adopted memory is the caller's to keep: dropping the handle asks no queue, which a program may
  // be capturing.
  const bool is_adopted = state->facts.kind == TRINE_MEMORY_ADOPTED;
  if (!state->device->may_call() || is_adopted || state->passed()) {
    delete state;
  } else {
    defer(state);
  }
  collect();
}

BufferState& Access::use(const Buffer& buffer) {
  if (!buffer.state_) refuse("This Buffer is empty: allocate, adopt or wrap memory first.");
  return *buffer.state_;
}

}  // namespace detail

using detail::Access;

Buffer::Buffer(const Device& device, uint64_t bytes, Memory kind) {
  detail::entry([&] {
    Access::use(device);
    if (kind != Memory::device && kind != Memory::pinned) {
      detail::refuse(
          "A Buffer is allocated as device or pinned memory; wrapped and adopted memory is the "
          "caller's: use Buffer::wrap() or Buffer::adopt().");
    }
    state_ = detail::allocate(Access::state(device), bytes, kind);
  });
}

Buffer Buffer::adopt(const Device& device, void* native, uint64_t bytes) {
  return detail::entry([&] {
    const trine_backend& api = Access::use(device).api;
    if (!native && bytes != 0) detail::refuse("Buffer::adopt(): the memory is null.");
    Buffer buffer;
    buffer.state_ = detail::make(
        Access::state(device), bytes, Memory::adopted, "adopting memory",
        [&](auto* on, auto** made) { return api.buffer_adopt(on, native, bytes, made); });
    return buffer;
  });
}

Buffer Buffer::wrap(const Device& device, void* host, uint64_t bytes) {
  return detail::entry([&] {
    Access::use(device);
    if (!host && bytes != 0) detail::refuse("Buffer::wrap(): the host memory is null.");
    Buffer buffer;
    buffer.state_ = detail::wrap(Access::state(device), host, bytes);
    return buffer;
  });
}

Device Buffer::device() const { return Access::device(Access::use(*this).device); }
Memory Buffer::kind() const { return static_cast<Memory>(Access::use(*this).facts.kind); }
uint64_t Buffer::bytes() const { return Access::use(*this).facts.bytes; }
void* Buffer::native() const { return Access::use(*this).facts.native; }
void* Buffer::host() const { return Access::use(*this).facts.host; }

View row_major(Buffer buffer, Dtype dtype, int64_t rows, int64_t cols, uint64_t offset) {
  return {std::move(buffer), dtype, offset, rows, cols, 1, cols};
}

View col_major(Buffer buffer, Dtype dtype, int64_t rows, int64_t cols, uint64_t offset) {
  return {std::move(buffer), dtype, offset, rows, cols, 1, 1, rows};
}

View vector(Buffer buffer, Dtype dtype, int64_t size, uint64_t offset) {
  return {std::move(buffer), dtype, offset, size, 1, 1, 1};
}

View batched(Buffer buffer, Dtype dtype, int64_t count, int64_t rows, int64_t cols,
             uint64_t offset) {
  View view = row_major(std::move(buffer), dtype, rows, cols, offset);
  view.batch = count;
  view.batch_stride = detail::matrix_stride(rows, cols);
  return view;
}

}  // namespace trine
