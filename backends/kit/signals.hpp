// Signals belong to the program: no thread of ours takes one that is meant for the process.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace trine::kit {

/// Calls start() with signals blocked: the threads that it starts, also a driver's, block them for
/// ever; the caller's mask is as before. Signals that a thread raises by its own instructions
/// aren't blocked: the program would end without its handler, which may load memory or report the
/// crash.
template <class Start>
decltype(auto) without_signals(Start&& start) {
  struct Blocked {
    Blocked() noexcept {
      sigset_t all;
      sigfillset(&all);
      for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&all, own);
      pthread_sigmask(SIG_BLOCK, &all, &before);
    }
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    Blocked(const Blocked&) = delete;
    Blocked& operator=(const Blocked&) = delete;
    sigset_t before;
  };
  const Blocked blocked;
  return start();
}

}  // namespace trine::kit
