// Where one end is host memory anyway (the cpu's buffers, pinned ones), the other end's device copies
// directly. Else the bytes go through a ring of pinned slots: while the source's device fills one,
// the target's device drains another; events, bridged between the backends, order the two queues.
#include "staging.hpp"

#include <algorithm>

#include "handles.hpp"

namespace trine::detail {
namespace {

constexpr uint64_t kSlotBytes = uint64_t{8} << 20;
constexpr int kSlots = 3;

/// For the history that a failure tells; the queue is locked.
void log_copy(QueueState& queue) {
  Logged entry;
  entry.what = "copy between devices";
  queue.log(entry);
}

void enqueue(QueueState& queue, const trine_copy& copy) {
  const std::lock_guard lock(queue.line->mutex);
  queue.line->has_work = true;  // another thread's wait() may have come since log_copy()
  queue.expect(queue.device().api.copy(queue.line->queue, &copy), "copying");
}

void flush(QueueState& queue) {
  const std::lock_guard lock(queue.line->mutex);
  queue.expect(queue.device().api.queue_flush(queue.line->queue), "flushing the queue");
}

/// A moment on `first`, on its way to the device, which `second` waits for.
void order(QueueState& first, QueueState& second) {
  const std::shared_ptr<EventState> moment = record(first);
  flush(first);
  wait_for(second, moment);
}

/// `queue` where it is of that device, else a new one that starts where `queue` stands. What fails
/// there, the caller can only hear from `queue`, which therefore keeps it until its wait().
class Helper {
 public:
  Helper(QueueState& queue, const std::shared_ptr<DeviceState>& device) : queue_(queue) {
    if (&queue.device() == device.get()) return;
    made_ = make_queue(device);
    log_copy(*made_);
    order(queue, *made_);
    Helpers finished;
    const std::lock_guard lock(queue.line->mutex);
    queue.keep(made_, finished);
  }
  QueueState& get() { return made_ ? *made_ : queue_; }
  /// Work enqueued on the caller's queue from now on comes after the helper's.
  void join() {
    if (made_) order(*made_, queue_);
  }

 private:
  QueueState& queue_;
  std::shared_ptr<QueueState> made_;
};

/// The device at one end copies directly from or to the other end's host memory.
void copy_directly(QueueState& queue, const std::shared_ptr<DeviceState>& worker,
                   trine_direction direction, BufferState& source, const trine_view& from,
                   BufferState& target, const trine_view& to, const Pieces& pieces) {
  Helper helper(queue, worker);
  QueueState& work = helper.get();
  source.used_on(work.line);
  target.used_on(work.line);
  for_each_rectangle(pieces, [&](uint64_t at, uint64_t onto, uint64_t width, uint64_t height) {
    enqueue(work,
            {sizeof(trine_copy), static_cast<uint32_t>(direction),
             direction == TRINE_HOST_TO_DEVICE ? source.facts.host : from.memory,
             direction == TRINE_HOST_TO_DEVICE ? to.memory : target.facts.host, from.offset + at,
             to.offset + onto, pieces.pitch.source, pieces.pitch.target, width, height});
  });
  helper.join();
}

/// The ring of pinned slots between two queues.
class Ring {
 public:
  Ring(QueueState& reader, QueueState& writer)
      : reader_(reader),
        writer_(writer),
        memory_(allocate(reader.line->device, kSlotBytes * kSlots, Memory::pinned)) {
    memory_->used_on(reader.line);
    memory_->used_on(writer.line);
  }

  /// Moves one rectangle of at most a slot's bytes.
  void pass(const void* source, uint64_t at, uint64_t source_pitch, void* target, uint64_t onto,
            uint64_t target_pitch, uint64_t width, uint64_t height) {
    const int slot = next_++ % kSlots;
    if (drained_[slot]) wait_for(reader_, drained_[slot]);
    char* const host = static_cast<char*>(memory_->facts.host) + slot * kSlotBytes;
    enqueue(reader_, {sizeof(trine_copy), TRINE_DEVICE_TO_HOST, source, host, at, 0, source_pitch,
                      width, width, height});
    order(reader_, writer_);
    enqueue(writer_, {sizeof(trine_copy), TRINE_HOST_TO_DEVICE, host, target, 0, onto, width,
                      target_pitch, width, height});
    drained_[slot] = record(writer_);
    flush(writer_);
  }

 private:
  QueueState &reader_, &writer_;
  std::shared_ptr<BufferState> memory_;
  std::shared_ptr<EventState> drained_[kSlots];
  int next_ = 0;
};

void copy_staged(QueueState& queue, BufferState& source, const trine_view& from,
                 BufferState& target, const trine_view& to, const Pieces& pieces) {
  Helper reader(queue, source.device), writer(queue, target.device);
  source.used_on(reader.get().line);
  target.used_on(writer.get().line);
  Ring ring(reader.get(), writer.get());
  for_each_rectangle(pieces, [&](uint64_t at, uint64_t onto, uint64_t width, uint64_t height) {
    const uint64_t part = std::min(width, kSlotBytes),
                   rows = std::max<uint64_t>(1, kSlotBytes / width);
    for (uint64_t row = 0; row < height; row += rows) {
      for (uint64_t column = 0; column < width; column += part) {
        ring.pass(from.memory, from.offset + at + row * pieces.pitch.source + column,
                  pieces.pitch.source, to.memory,
                  to.offset + onto + row * pieces.pitch.target + column, pieces.pitch.target,
                  std::min(part, width - column), std::min(rows, height - row));
      }
    }
  });
  writer.join();
  reader.join();
}

}  // namespace

void copy_between(QueueState& queue, BufferState& source, const trine_view& from,
                  BufferState& target, const trine_view& to, const Pieces& pieces) {
  {
    const std::lock_guard lock(queue.line->mutex);
    log_copy(queue);
  }
  // Pinned or wrapped memory of a device with its own memory may be cached there: only where both are
  // one is the host's pointer as good as the device's.
  const auto on_host = [](const BufferState& buffer) {
    return buffer.device->in_place && buffer.facts.host;
  };
  if (on_host(source)) {
    copy_directly(queue, target.device, TRINE_HOST_TO_DEVICE, source, from, target, to, pieces);
  } else if (on_host(target)) {
    copy_directly(queue, source.device, TRINE_DEVICE_TO_HOST, source, from, target, to, pieces);
  } else {
    copy_staged(queue, source, from, target, to, pieces);
  }
}

}  // namespace trine::detail
