#include "transfer.hpp"

#include <cstring>
#include <thread>

#include "on_threads.hpp"

namespace trine::detail {
namespace {

constexpr uint64_t kSlot = uint64_t{4} << 20;
/// Below this size the driver's own copies of pageable memory are as fast, and need no pinned
/// memory.
constexpr uint64_t kStaged = uint64_t{4} << 20;

/// One thread per 32 MiB, of at most half the machine: memcpy on one core is slower than the bus.
int threads_for(uint64_t bytes) {
  const uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const uint64_t most = std::min<uint64_t>(CallQueue::kThreads, std::max<uint64_t>(1, cores / 2));
  return static_cast<int>(std::clamp<uint64_t>(bytes >> 25, 1, most));
}

/// Rows in chunks, which the threads take in turns.
struct Chunks {
  int threads;
  uint64_t bytes, each;
  explicit Chunks(const HostRows& rows) : threads(threads_for(rows.all)), bytes(rows.bytes()) {
    const uint64_t share = bytes / static_cast<uint64_t>(threads) + 1;  // a chunk may be small
    each = std::min(kSlot, (share + 4095) / 4096 * 4096);
  }
  uint64_t first(int thread) const { return each * static_cast<uint64_t>(thread); }
  uint64_t step() const { return each * static_cast<uint64_t>(threads); }
};

/// A slot of a stream's ring.
char* slot_of(char* ring, int thread, int turn) {
  return ring + kSlot * static_cast<uint64_t>(thread * CallQueue::kSlotsEach + turn);
}

/// Copies the bytes [first, last) of the stream of rows to or from `chunk`.
template <bool to_chunk>
void move_rows(const HostRows& rows, uint64_t first, uint64_t last, char* chunk) {
  const Rectangles& rectangles = rows.rectangles;
  while (first < last) {
    const uint64_t row = first / rectangles.width, column = first % rectangles.width;
    const uint64_t count = std::min(rectangles.width - column, last - first);
    char* const host = rows.base + row / rectangles.height * rectangles.step.source +
                       row % rectangles.height * rectangles.pitch.source + column;
    if constexpr (to_chunk) {
      std::memcpy(chunk, host, count);
    } else {
      std::memcpy(host, chunk, count);
    }
    chunk += count;
    first += count;
  }
}

View bytes_of(const Buffer& buffer, uint64_t first, uint64_t count) {
  return vector(buffer, Dtype::b8, static_cast<int64_t>(count), first);
}

/// The stream's pinned memory, or none where the rows need none or the device has none to give.
char* ring_of(CallQueue& stream, const HostRows& rows) {
  if (rows.pinned || rows.all < kStaged) return nullptr;
  if (!stream.ring) {
    try {
      stream.ring = Buffer(stream.queue.device(),
                           kSlot * CallQueue::kThreads * CallQueue::kSlotsEach, Memory::pinned);
    } catch (const Error&) { return nullptr; }
  }
  return static_cast<char*>(stream.ring.host());
}

/// Rectangles straight between host and device: small or pinned host memory.
template <class Copy>
void directly(const HostRows& rows, Copy&& copy_rows) {
  const Rectangles& rectangles = rows.rectangles;
  const auto width = static_cast<int64_t>(rectangles.width),
             height = static_cast<int64_t>(rectangles.height);
  for (uint64_t i = 0; i < rectangles.outer; ++i) {
    HostView view =
        host_row_major(rows.base + i * rectangles.step.source, Dtype::b8, height, width);
    view.row_stride = static_cast<int64_t>(rectangles.pitch.source);
    copy_rows(view, i * rectangles.width * rectangles.height);
  }
}

}  // namespace

void CallQueue::show(const trine_witness* to) {
  if (to == witness) return;
  witness = to;
  const QueueState& state = *Access::state(queue);
  const std::lock_guard lock(state.timeline->mutex);
  if (state.device().api.queue_witness) state.device().api.queue_witness(state.timeline->queue, to);
}

void upload(CallQueue& stream, const HostRows& from, const Buffer& buffer, uint64_t offset) {
  char* const ring = ring_of(stream, from);
  if (!ring) {
    return directly(from, [&](const HostView& rows, uint64_t at) {
      copy(stream.queue, rows, row_major(buffer, Dtype::b8, rows.rows, rows.cols, offset + at));
    });
  }
  const Chunks chunks(from);
  on_threads(chunks.threads, [&](int thread) {
    CallQueue::StagingSlots& slots = stream.slots[thread];
    for (uint64_t first = chunks.first(thread); first < chunks.bytes; first += chunks.step()) {
      const uint64_t count = std::min(chunks.each, chunks.bytes - first);
      char* const slot = slot_of(ring, thread, slots.next);
      Event& drained = slots.drained[slots.next];
      slots.next ^= 1;
      drained.wait();
      move_rows<true>(from, first, first + count, slot);
      copy(stream.queue, host_vector(slot, Dtype::b8, static_cast<int64_t>(count)),
           bytes_of(buffer, offset + first, count));
      drained = stream.queue.record();
      stream.queue.flush();
    }
  });
}

void download(CallQueue& stream, const Buffer& buffer, uint64_t offset, const HostRows& to) {
  char* const ring = ring_of(stream, to);
  if (!ring) {
    directly(to, [&](const HostView& rows, uint64_t at) {
      copy(stream.queue, row_major(buffer, Dtype::b8, rows.rows, rows.cols, offset + at), rows);
    });
    return stream.queue.flush();
  }
  const Chunks chunks(to);
  on_threads(chunks.threads, [&](int thread) {
    Event arrived[CallQueue::kSlotsEach];
    const auto request = [&](uint64_t first, int turn) {
      if (first >= chunks.bytes) return;
      const uint64_t count = std::min(chunks.each, chunks.bytes - first);
      copy(stream.queue, bytes_of(buffer, offset + first, count),
           host_vector(slot_of(ring, thread, turn), Dtype::b8, static_cast<int64_t>(count)));
      arrived[turn] = stream.queue.record();
      stream.queue.flush();
    };
    request(chunks.first(thread), 0);
    int turn = 0;
    for (uint64_t first = chunks.first(thread); first < chunks.bytes;
         first += chunks.step(), turn ^= 1) {
      request(first + chunks.step(), turn ^ 1);
      const uint64_t last = std::min(first + chunks.each, chunks.bytes);
      arrived[turn].wait();
      move_rows<false>(to, first, last, slot_of(ring, thread, turn));
    }
  });
}

}  // namespace trine::detail
