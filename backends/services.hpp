// The host's services that every backend and pack gets (trine_host), and what a process may do to
// us: fork, after which nothing works any more, and exit, after which nothing is called any more.
#pragma once

#include "abi.h"

namespace trine::registry {

/// Host memory for backends, packs and core itself.
const trine_host& services() noexcept;

/// Watches for fork and exit from now on; idempotent.
void watch_process();

/// What a child can't go on with, where it is forked meanwhile: locks that are held, a device that was opened.
class InUse {
 public:
  InUse() noexcept;
  ~InUse();
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  void for_good() noexcept { ends_ = false; }

 private:
  bool ends_ = true;
};

/// True in a child forked after watch_process() and InUse: locks and threads stayed behind in the parent.
bool forked() noexcept;

/// True once exit() has begun: backends may be half destroyed, so handles are dropped, not closed.
bool exiting() noexcept;

}  // namespace trine::registry

/// A seam for tests: host memory comes from `host` from now on (NULL: the usual one again). What the
/// one gave the other must be able to release, as malloc's family can.
extern "C" TRINE_EXPORT void trine_test_host(const trine_host* host);
