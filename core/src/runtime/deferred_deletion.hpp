// Deferred destruction: an object that still has work in flight when its last handle is dropped
// goes into one list. Later calls free it, and never wait for it.
#pragma once

#include "backends/kit/host.hpp"

namespace trine::detail {

struct DeviceState;

struct DeferredDeletion : kit::Allocated {
  virtual ~DeferredDeletion() = default;
  /// Has all work that uses it passed? Asked until it says yes; then it is deleted.
  virtual bool passed() noexcept = 0;
  /// Does memory of that device and kind (TRINE_MEMORY_…) go with it?
  virtual bool frees(const DeviceState&, uint32_t) const noexcept { return false; }

  DeferredDeletion* next = nullptr;  ///< in the list of what was deferred
};

/// Frees `dropped` when it has passed(); needs no memory.
void defer(DeferredDeletion* dropped) noexcept;

/// Frees objects whose work has passed, and stops after a few whose work hasn't, so that a call
/// costs the same however much is in flight. The next call goes on there.
void collect() noexcept;

/// Called if memory of `device` and `kind` is exhausted: waits until dropped memory is free, or
/// returns false if none was dropped. No queue may be locked, because a dropped object may have to
/// ask it.
bool wait_for_memory(const DeviceState& device, uint32_t kind) noexcept;

}  // namespace trine::detail
