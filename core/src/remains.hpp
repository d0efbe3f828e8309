// Deferred destruction: what still has work in flight when its last handle goes is kept in one list
// and freed in passing by later calls, never by waiting.
#pragma once

#include "backends/kit/host.hpp"

namespace trine::detail {

class Remains : public kit::Allocated {
 public:
  virtual ~Remains() = default;
  /// Has all work that uses it passed? Asked until it says yes; then it is deleted.
  virtual bool passed() noexcept = 0;

 private:
  friend void defer(Remains*) noexcept;
  friend void collect() noexcept;
  Remains* next_ = nullptr;
};

/// Frees `remains` when it has passed(); needs no memory.
void defer(Remains* remains) noexcept;

/// Frees what has passed by now. Cheap when there is nothing.
void collect() noexcept;

}  // namespace trine::detail
