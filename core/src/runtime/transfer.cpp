#include "transfer.hpp"

#include <cstring>
#include <thread>

#include "on_threads.hpp"

namespace trine::detail {
namespace {

constexpr uint64_t kSlot = uint64_t{4} << 20;
/// Below this the driver's own way through pageable memory is as good, and costs no pinned memory.
constexpr uint64_t kStaged = uint64_t{4} << 20;

/// One thread per 32 MiB, of at most half the machine: memcpy on one core is slower than the bus.
int threads_for(uint64_t bytes) {
  const uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const uint64_t most = std::min<uint64_t>(Lane::kThreads, std::max<uint64_t>(1, cores / 2));
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

/// Of a lane's ring.
char* slot_of(char* ring, int thread, int turn) {
  return ring + kSlot * static_cast<uint64_t>(thread * Lane::kSlotsEach + turn);
}

/// Copies the bytes [first, last) of the stream of rows to or from `chunk`.
template <bool to_chunk>
void move_rows(const HostRows& rows, uint64_t first, uint64_t last, char* chunk) {
  const Pieces& pieces = rows.pieces;
  while (first < last) {
    const uint64_t row = first / pieces.width, column = first % pieces.width;
    const uint64_t count = std::min(pieces.width - column, last - first);
    char* const host = rows.base + row / pieces.height * pieces.step.source +
                       row % pieces.height * pieces.pitch.source + column;
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

/// The lane's pinned memory, or none where the rows need none or the device has none to give.
char* ring_of(Lane& lane, const HostRows& rows) {
  if (rows.pinned || rows.all < kStaged) return nullptr;
  if (!lane.ring) {
    try {
      lane.ring =
          Buffer(lane.queue.device(), kSlot * Lane::kThreads * Lane::kSlotsEach, Memory::pinned);
    } catch (const Error&) { return nullptr; }
  }
  return static_cast<char*>(lane.ring.host());
}

/// Rectangles straight between host and device: small or pinned host memory.
template <class Copy>
void directly(const HostRows& rows, Copy&& copy_rows) {
  const Pieces& pieces = rows.pieces;
  const auto width = static_cast<int64_t>(pieces.width),
             height = static_cast<int64_t>(pieces.height);
  for (uint64_t i = 0; i < pieces.outer; ++i) {
    HostView view = host_row_major(rows.base + i * pieces.step.source, Dtype::b8, height, width);
    view.row_stride = static_cast<int64_t>(pieces.pitch.source);
    copy_rows(view, i * pieces.width * pieces.height);
  }
}

}  // namespace

void Lane::show(const trine_witness* to) {
  if (to == witness) return;
  witness = to;
  const QueueState& state = *Access::state(queue);
  const std::lock_guard lock(state.line->mutex);
  if (state.device().api.queue_witness) state.device().api.queue_witness(state.line->queue, to);
}

void upload(Lane& lane, const HostRows& from, const Buffer& buffer, uint64_t offset) {
  char* const ring = ring_of(lane, from);
  if (!ring) {
    return directly(from, [&](const HostView& rows, uint64_t at) {
      copy(lane.queue, rows, row_major(buffer, Dtype::b8, rows.rows, rows.cols, offset + at));
    });
  }
  const Chunks chunks(from);
  on_threads(chunks.threads, [&](int thread) {
    Lane::Slots& slots = lane.slots[thread];
    for (uint64_t first = chunks.first(thread); first < chunks.bytes; first += chunks.step()) {
      const uint64_t count = std::min(chunks.each, chunks.bytes - first);
      char* const slot = slot_of(ring, thread, slots.next);
      Event& drained = slots.drained[slots.next];
      slots.next ^= 1;
      drained.wait();
      move_rows<true>(from, first, first + count, slot);
      copy(lane.queue, host_vector(slot, Dtype::b8, static_cast<int64_t>(count)),
           bytes_of(buffer, offset + first, count));
      drained = lane.queue.record();
      lane.queue.flush();
    }
  });
}

void download(Lane& lane, const Buffer& buffer, uint64_t offset, const HostRows& to) {
  char* const ring = ring_of(lane, to);
  if (!ring) {
    directly(to, [&](const HostView& rows, uint64_t at) {
      copy(lane.queue, row_major(buffer, Dtype::b8, rows.rows, rows.cols, offset + at), rows);
    });
    return lane.queue.flush();
  }
  const Chunks chunks(to);
  on_threads(chunks.threads, [&](int thread) {
    Event arrived[Lane::kSlotsEach];
    const auto request = [&](uint64_t first, int turn) {
      if (first >= chunks.bytes) return;
      const uint64_t count = std::min(chunks.each, chunks.bytes - first);
      copy(lane.queue, bytes_of(buffer, offset + first, count),
           host_vector(slot_of(ring, thread, turn), Dtype::b8, static_cast<int64_t>(count)));
      arrived[turn] = lane.queue.record();
      lane.queue.flush();
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
