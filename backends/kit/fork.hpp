// Forks. A child has its parent's memory, but only the thread that forked: locks of other threads
// stay locked for ever, and their work never ends. So a child that was forked while something was
// in use goes on with state of its own (generation()), and drops its parent's objects without a
// call to drivers.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <new>

namespace trine::kit {

namespace fork_details {
enum : int { kForked = 0, kKnown = 1, kCounting = 2 };
using Mark = std::atomic<int>;
inline Mark unwatched{kKnown};
inline std::atomic<Mark*> watched{&unwatched};
inline std::atomic<int> uses{0};
inline std::atomic<unsigned> forks{0};

/// At a child's first question: whoever asks first counts the fork.
inline void count(Mark& mark) noexcept {
  int seen = kForked;
  if (mark.compare_exchange_strong(seen, kCounting)) {
    if (uses > 0) ++forks;
    uses = 0;
    mark = kKnown;
  }
  while (mark == kCounting) sched_yield();
}
}  // namespace fork_details

/// How many forks this process comes from that were made while this module was in use; 0: it may
/// use all that it finds.
inline unsigned generation() noexcept {
  fork_details::Mark& mark = *fork_details::watched.load(std::memory_order_acquire);
  if (mark.load(std::memory_order_acquire) != fork_details::kKnown) fork_details::count(mark);
  return fork_details::forks.load(std::memory_order_relaxed);
}
inline bool is_forked() noexcept { return generation() != 0; }

/// Watches for forks from now on; before any use, and once is enough. By a page that the kernel
/// wipes in children: a handler that is registered while another thread's fork() runs others isn't
/// called for that one. Numbers of processes say nothing, since a child in a namespace may have its
/// parent's.
inline void watch_forks() noexcept {
  using namespace fork_details;
  static const bool is_watched = [] {
    constexpr std::size_t kBytes = 1;  // a page
    void* const page =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool wipes = page != MAP_FAILED && madvise(page, kBytes, MADV_WIPEONFORK) == 0;
    if (wipes) watched = new (page) Mark{kKnown};
    return wipes || pthread_atfork(nullptr, nullptr, [] { unwatched = kForked; }) == 0;
  }();
  static_cast<void>(is_watched);
}

/// Something that a child can't go on with, where it is forked meanwhile: locks that are held, a
/// device that was opened.
class InUse {
 public:
  InUse() noexcept : generation_(generation()) { ++fork_details::uses; }
  ~InUse() {
    if (ends_ && generation_ == generation()) --fork_details::uses;
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  void for_good() noexcept { ends_ = false; }

 private:
  unsigned generation_;
  bool ends_ = true;
};

/// The one T of the process, made at the first call. It outlives every handle and every thread that
/// may still be calling. A forked child has one of its own.
template <class T>
T& singleton() {
  struct Made {
    unsigned generation;
    T value{};
  };
  static constinit std::atomic<Made*> last{
      nullptr};  // no guard, which a thread of the parent's might hold
  Made* made = last.load(std::memory_order_acquire);
  while (!made || made->generation != generation()) {
    auto* const fresh = new Made{generation()};
    if (last.compare_exchange_strong(made, fresh, std::memory_order_acq_rel)) return fresh->value;
    delete fresh;
  }
  return made->value;
}

}  // namespace trine::kit
