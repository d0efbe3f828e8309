// The host's services that every backend and pack gets (trine_host), and what a process may do to
// us: fork (kit/fork.hpp), for which the libraries that are being loaded must be whole, and exit,
// after which nothing is called any more.
#pragma once

#include "abi.h"

namespace trine::registry {

/// Host memory for backends, packs and core itself.
const trine_host& services() noexcept;

/// Loading libraries, by one thread at a time: a fork() of another thread waits meanwhile, since
/// the child couldn't go on with half of one.
class Loading {
 public:
  Loading();
  ~Loading();
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;
};
/// True in a child for whose fork loading took too long: it can load nothing.
bool is_torn() noexcept;

/// Watches for exit from now on; idempotent.
void watch_exit();
/// True once exit() has begun: backends may be half destroyed, so handles are dropped, not closed.
bool exiting() noexcept;

}  // namespace trine::registry

/// A seam for tests: host memory comes from `host` from now on (NULL: the usual one again). Each
/// must be able to release memory that the other gave, as malloc's family can.
extern "C" TRINE_EXPORT void trine_test_host(const trine_host* host);
