// Whole operands between host memory and a device, as fast as the machine can: pageable memory goes
// through a ring of pinned chunks that several threads fill while the device drains it.
#pragma once

#include "pieces.hpp"

namespace trine::detail {

/// A queue of a device with the pinned memory its transfers use; lent to one call at a time.
struct Lane : kit::Allocated {
  static constexpr int kThreads = 4, kSlotsEach = 2;

  explicit Lane(const Device& device) : queue(device) {}
  /// What the lane's call reads and writes from now on; null: to nobody.
  void show(const trine_witness* to);
  Queue queue;
  Buffer ring;  ///< pinned, some slots for each thread; made by the first large transfer
  const trine_witness* witness = nullptr;
  struct Slots {
    Event drained[kSlotsEach];  ///< when the device has read what an upload put there
    int next = 0;
  } slots[kThreads];
};

/// Host memory as a stream of rows: `pieces` of an element size over `base`.
struct HostRows {
  char* base = nullptr;
  Pieces pieces;
  uint64_t bytes() const { return pieces.width * pieces.height * pieces.outer; }
  bool pinned = false;
  uint64_t all = 0;  ///< bytes of the operand of which these are a chunk, or the whole
};

/// Moves the rows, one after the other, to or from the dense bytes of `buffer` from `offset` on.
/// Enqueued work may be left in flight: host memory is used until the lane's queue has passed it.
void upload(Lane& lane, const HostRows& from, const Buffer& buffer, uint64_t offset);
void download(Lane& lane, const Buffer& buffer, uint64_t offset, const HostRows& to);

}  // namespace trine::detail
