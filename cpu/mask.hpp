// A thread's mask of CPUs.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace trine::cpu {

struct Mask {
  cpu_set_t cpus[16];  // Linux refuses a mask that is smaller than its own
  int count;           // 0: it isn't known

  bool has(std::int64_t cpu) const {
    return CPU_ISSET_S(static_cast<std::size_t>(cpu), sizeof cpus, cpus) != 0;
  }
};

inline Mask mask_of(pid_t thread) {
  Mask mask;
  const bool known = sched_getaffinity(thread, sizeof mask.cpus, mask.cpus) == 0;
  mask.count = known ? CPU_COUNT_S(sizeof mask.cpus, mask.cpus) : 0;
  return mask;
}

// Gives the calling thread all CPUs that it may have; false where it can't.
inline bool take_all_cpus() {
  cpu_set_t all[16];
  std::memset(all, 0xFF, sizeof all);
  return sched_setaffinity(0, sizeof all, all) == 0;
}

// Moves the calling thread to one of the CPUs `to` and then sets its own mask, `mask`, again.
// Changes that others make to its mask meanwhile are undone. If the process may use no CPU of
// `mask` any more, the thread may run on all CPUs of the process.
inline void move_to(const Mask& to, const Mask& mask) {
  if (sched_setaffinity(0, sizeof to.cpus, to.cpus) != 0) return;
  if (sched_setaffinity(0, sizeof mask.cpus, mask.cpus) != 0) take_all_cpus();
}

}  // namespace trine::cpu
