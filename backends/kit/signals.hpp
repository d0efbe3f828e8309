// Signals belong to the program: no thread of ours takes one that is meant for the process.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace trine::kit {

/// start() with signals blocked: the threads that it starts, a driver's among them, block them for
/// ever, and the caller's mask is as before. But for those that a thread raises by what it does
/// itself: where they are blocked the program ends without its handler, which may be there to bring
/// memory in, or to say where it crashed.
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
