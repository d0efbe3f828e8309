// Where one end is the cpu's memory and the other end's device takes any host memory in its queue's
// order, that device copies directly. Else the bytes go through a ring of pinned slots: while the
// source's device fills one, the target's device drains another; events, bridged between the
// backends, order the two queues.
#include <algorithm>
#include <utility>

#include "rectangles.hpp"

namespace trine::detail {
namespace {

constexpr uint64_t kSlotBytes = uint64_t{8} << 20;
constexpr int kSlots = 3;

constexpr Logged kLogged{.what = "copy between devices"};  ///< in the history that a failure tells

void enqueue(QueueState& queue, const trine_copy& copy) {
  const std::lock_guard lock(queue.timeline->mutex);
  queue.timeline->has_work = true;  // another thread's wait() may have come since it was logged
  queue.expect(queue.device().api.copy(queue.timeline->queue, &copy), "copying");
}

void flush(QueueState& queue) {
  const std::lock_guard lock(queue.timeline->mutex);
  queue.expect(queue.device().api.queue_flush(queue.timeline->queue), "flushing the queue");
}

/// A moment on `first`, on its way to the device, which `second` waits for.
void order(QueueState& first, QueueState& second) {
  const std::shared_ptr<EventState> moment = record(first);
  flush(first);
  wait_for(second, moment);
}

/// `queue` where it is of that device, else a new one that starts where `queue` stands. The
/// caller can hear of failures there from `queue` alone, which therefore keeps it until its wait().
class Helper {
 public:
  Helper(QueueState& queue, const std::shared_ptr<DeviceState>& device) : queue_(queue) {
    if (&queue.device() == device.get()) return;
    made_ = make_queue(device);
    made_->log(kLogged);
    order(queue, *made_);
    Helpers finished;
    const std::lock_guard lock(queue.timeline->mutex);
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
                   trine_direction direction, BufferState& source, trine_view from,
                   BufferState& target, trine_view to, const Rectangles& rectangles) {
  Helper helper(queue, worker);
  QueueState& work = helper.get();
  source.used_on(work.timeline);
  target.used_on(work.timeline);
  (direction == TRINE_HOST_TO_DEVICE ? from.memory : to.memory) =
      (direction == TRINE_HOST_TO_DEVICE ? source : target).facts.host;
  for_each_copy(rectangles, direction, from, to,
                [&](const trine_copy& copy) { enqueue(work, copy); });
  helper.join();
}

/// Pinned memory between two devices. A copy takes what the queue's last one left, before it orders
/// anything: so it comes behind all use of that. It leaves it to the next when all is enqueued.
class Staging {
 public:
  Staging(QueueState& queue, const BufferState& source, const BufferState& target, uint64_t bytes)
      : queue_(queue) {
    const std::shared_ptr<DeviceState>& device =
        target.device->needs_pinned() ? target.device : source.device;
    {
      const std::lock_guard lock(queue.timeline->mutex);
      memory_ = std::exchange(queue.staging, nullptr);
    }
    const uint64_t least = bytes <= kSlotBytes ? bytes : kSlotBytes * kSlots;
    if (memory_ && memory_->device == device && memory_->facts.bytes >= least) return;
    memory_ = allocate(device, least, Memory::pinned);
  }
  BufferState& memory() { return *memory_; }
  void leave() {
    const std::lock_guard lock(queue_.timeline->mutex);
    queue_.staging.swap(memory_);
  }

 private:
  QueueState& queue_;
  std::shared_ptr<BufferState> memory_;
};

/// The ring of pinned slots between two queues.
class Ring {
 public:
  Ring(QueueState& reader, QueueState& writer, BufferState& memory)
      : reader_(reader), writer_(writer), host_(static_cast<char*>(memory.facts.host)) {
    memory.used_on(reader.timeline);
    memory.used_on(writer.timeline);
  }

  /// Moves one rectangle of at most a slot's bytes: in with the last ones where there is room.
  void pass(const trine_copy& c) {
    if (filled_ + c.width * c.height > kSlotBytes) hand_over();
    if (filled_ == 0 && drained_[slot_]) wait_for(reader_, drained_[slot_]);
    char* const host = host_ + slot_ * kSlotBytes + filled_;
    filled_ += c.width * c.height;
    writes_.push_back({c.size, TRINE_HOST_TO_DEVICE, host, c.target, 0, c.target_offset, c.width,
                       c.target_pitch, c.width, c.height});
    enqueue(reader_, {c.size, TRINE_DEVICE_TO_HOST, c.source, host, c.source_offset, 0,
                      c.source_pitch, c.width, c.width, c.height});
  }

  /// Sends the slot's bytes to the target.
  void hand_over() {
    order(reader_, writer_);
    for (const trine_copy& write : writes_) enqueue(writer_, write);
    writes_.clear();
    filled_ = 0;
    drained_[slot_] = record(writer_);
    flush(writer_);
    slot_ = (slot_ + 1) % kSlots;
  }

 private:
  QueueState &reader_, &writer_;
  char* const host_;
  std::shared_ptr<EventState> drained_[kSlots];
  kit::Vector<trine_copy> writes_;  ///< of the slot being filled
  uint64_t filled_ = 0;
  int slot_ = 0;
};

void copy_staged(QueueState& queue, BufferState& source, const trine_view& from,
                 BufferState& target, const trine_view& to, const Rectangles& rectangles) {
  Staging staging(queue, source, target, rectangles.width * rectangles.height * rectangles.outer);
  Helper reader(queue, source.device), writer(queue, target.device);
  source.used_on(reader.get().timeline);
  target.used_on(writer.get().timeline);
  Ring ring(reader.get(), writer.get(), staging.memory());
  for_each_copy(rectangles, TRINE_DEVICE_TO_DEVICE, from, to, [&](const trine_copy& all) {
    const uint64_t width = std::min(all.width, kSlotBytes),
                   rows = std::max<uint64_t>(1, kSlotBytes / all.width);
    for (uint64_t row = 0; row < all.height; row += rows) {
      for (uint64_t column = 0; column < all.width; column += width) {
        trine_copy part = all;
        part.source_offset += row * all.source_pitch + column;
        part.target_offset += row * all.target_pitch + column;
        part.width = std::min(width, all.width - column);
        part.height = std::min(rows, all.height - row);
        ring.pass(part);
      }
    }
  });
  ring.hand_over();
  writer.join();
  reader.join();
  staging.leave();
}

}  // namespace

void copy_between(QueueState& queue, BufferState& source, const trine_view& from,
                  BufferState& target, const trine_view& to, const Rectangles& rectangles) {
  {
    const std::lock_guard lock(queue.timeline->mutex);
    queue.log(kLogged);
  }
  // Pinned or wrapped memory of a device with its own memory may be cached there: only where both
  // are one is the host's pointer as good as the device's.
  const auto takes_directly = [](const DeviceState& worker, const BufferState& other) {
    return other.device->in_place && other.facts.host && !worker.needs_pinned();
  };
  if (takes_directly(*target.device, source)) {
    copy_directly(queue, target.device, TRINE_HOST_TO_DEVICE, source, from, target, to, rectangles);
  } else if (takes_directly(*source.device, target)) {
    copy_directly(queue, source.device, TRINE_DEVICE_TO_HOST, source, from, target, to, rectangles);
  } else {
    copy_staged(queue, source, from, target, to, rectangles);
  }
}

}  // namespace trine::detail
