// A driver's library may take the program's signals, as LLVM's handlers do, which PoCL brings
// along. Around what loads a driver, or has it compile, a HandlersKept puts the program's own back.
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>

#include <mutex>

#include "fork.hpp"

namespace trine::kit {

namespace handlers_details {

constexpr int kSignals = 64;
struct Before {
  std::mutex mutex;
  int uses = 0;  ///< how many are inside; the first has filled in the rest
  bool is_known[kSignals + 1] = {};
  struct sigaction action[kSignals + 1] = {};
  const void* library[kSignals + 1] = {};  ///< where its function is; or null
};
/// A forked child has its own, which no thread of the parent's holds.
inline Before& the_before() { return singleton<Before>(); }

inline const void* function_of(const struct sigaction& action) {
  if (action.sa_flags & SA_SIGINFO) return reinterpret_cast<const void*>(action.sa_sigaction);
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) return nullptr;
  return reinterpret_cast<const void*>(action.sa_handler);
}
inline const void* library_of(const void* function) {
  Dl_info info{};
  return function && dladdr(function, &info) != 0 ? info.dli_fbase : nullptr;
}

inline void look(Before& before) {
  for (int number = 1; number <= kSignals; ++number) {
    before.is_known[number] = sigaction(number, nullptr, &before.action[number]) == 0;
    before.library[number] =
        before.is_known[number] ? library_of(function_of(before.action[number])) : nullptr;
  }
}

/// Another thread of the program may have set a handler meanwhile: one of the program itself, or of
/// a library that had one before, stays.
inline bool is_the_programs(const Before& before, const struct sigaction& now) {
  const void* const library = library_of(function_of(now));
  if (!library) return false;
  if (library == library_of(reinterpret_cast<const void*>(getauxval(AT_ENTRY)))) return true;
  for (const void* known : before.library)
    if (library == known) return true;
  return false;
}

inline void put_back(const Before& before) {
  for (int number = 1; number <= kSignals; ++number) {
    struct sigaction now = {};
    if (!before.is_known[number] || sigaction(number, nullptr, &now) != 0) continue;
    const struct sigaction& then = before.action[number];
    const bool is_as_before = now.sa_handler == then.sa_handler && now.sa_flags == then.sa_flags;
    // Another module of ours, with a Before of its own, may have put the system's back meanwhile.
    const bool is_the_systems = !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
    if (!is_as_before && !is_the_systems && !is_the_programs(before, now))
      sigaction(number, &then, nullptr);
  }
}

}  // namespace handlers_details

/// While it lives, a library may change the signals' handlers. At its end the process has the
/// handlers that the first of simultaneous objects found, and the thread has its old mask and its
/// old stack for handlers.
class HandlersKept {
 public:
  HandlersKept() {
    using namespace handlers_details;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
    sigaltstack(nullptr, &stack_);
    Before& before = the_before();
    const std::lock_guard lock(before.mutex);
    if (before.uses++ == 0) look(before);
  }
  ~HandlersKept() {
    using namespace handlers_details;
    {
      Before& before = the_before();
      const std::lock_guard lock(before.mutex);
      put_back(before);
      --before.uses;
    }
    stack_t now = {};
    if (sigaltstack(nullptr, &now) == 0 &&
        (now.ss_sp != stack_.ss_sp || now.ss_flags != stack_.ss_flags))
      sigaltstack(&stack_, nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  HandlersKept(const HandlersKept&) = delete;
  HandlersKept& operator=(const HandlersKept&) = delete;

 private:
  sigset_t mask_;
  stack_t stack_;
};

}  // namespace trine::kit
