// Deferred destruction: what still has work in flight when its last handle goes is kept in one list
// and freed in passing by later calls, never by waiting.
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

/// Frees what has passed, and stops after some few that haven't: a call costs the same however much
/// is in flight, and the next one goes on there.
void collect() noexcept;

/// Waits, where memory of `device` and `kind` is exhausted, until some that was dropped is
/// free, or returns false where there is none. No queue may be locked, since what was dropped may
/// have to ask it.
bool wait_for_memory(const DeviceState& device, uint32_t kind) noexcept;

}  // namespace trine::detail
