// Whole operands between host memory and a device, as fast as the machine can: pageable memory goes
// through a ring of pinned chunks that several threads fill while the device drains it.
#pragma once

#include "rectangles.hpp"

namespace trine::detail {

/// A queue of a device with the pinned memory its transfers use; lent to one call at a time.
struct CallQueue : kit::Allocated {
  static constexpr int kThreads = 4, kSlotsEach = 2;

  explicit CallQueue(const Device& device) : queue(device) {}
  /// Shows what the stream's call reads and writes from now on; null: to nobody.
  void show(const trine_witness* to);
  Queue queue;
  Buffer ring;  ///< pinned, some slots for each thread; made by the first large transfer
  const trine_witness* witness = nullptr;
  struct StagingSlots {
    Event drained[kSlotsEach];  ///< when the device has read what an upload put there
    int next = 0;
  } slots[kThreads];
};

/// Host memory as a stream of rows: `rectangles` of an element size over `base`.
struct HostRows {
  char* base = nullptr;
  Rectangles rectangles;
  uint64_t bytes() const { return rectangles.width * rectangles.height * rectangles.outer; }
  bool pinned = false;
  uint64_t all = 0;  ///< bytes of the operand of which these are a chunk, or the whole
};

/// Moves the rows, one after the other, to or from the dense bytes of `buffer` from `offset` on.
/// Enqueued work may be left in flight: host memory is used until the stream's queue has passed it.
void upload(CallQueue& stream, const HostRows& from, const Buffer& buffer, uint64_t offset);
void download(CallQueue& stream, const Buffer& buffer, uint64_t offset, const HostRows& to);

}  // namespace trine::detail
