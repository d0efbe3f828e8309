// Moving a thread without pinning it: see cores.hpp.
#include "cores.hpp"

#include <sched.h>

#include "mask.hpp"

namespace trine::cpu {

Cores::Cores(int threads, int cores) : homes_(static_cast<std::size_t>(threads), -1) {
  if (threads > cores) return;
  owners_ = kit::Vector<std::atomic<std::int64_t>>(CPU_SETSIZE);
  for (auto& owner : owners_) owner = -1;
}

bool Cores::is_of(std::int64_t cpu, int number) const {
  return owners_[static_cast<std::size_t>(cpu)].load(std::memory_order_relaxed) == number;
}

bool Cores::take(int cpu, int number) {
  std::int64_t nobody = -1;
  if (!owners_[static_cast<std::size_t>(cpu)].compare_exchange_strong(nobody, number)) return false;
  if (homes_[static_cast<std::size_t>(number)] != cpu) leave(number);
  homes_[static_cast<std::size_t>(number)] = cpu;
  return true;
}

void Cores::leave(int number) {
  const std::int64_t home = homes_[static_cast<std::size_t>(number)];
  std::int64_t mine = number;
  if (home >= 0) owners_[static_cast<std::size_t>(home)].compare_exchange_strong(mine, -1);
}

void Cores::occupy(int number) {
  const int cpu = sched_getcpu();
  if (cpu < 0 || cpu >= static_cast<int>(owners_.size()) || is_of(cpu, number)) return;
  leave(number);
  owners_[static_cast<std::size_t>(cpu)] = number;
  homes_[static_cast<std::size_t>(number)] = cpu;
}

void Cores::move_if_shared(int number) {
  const int here = sched_getcpu(), all = static_cast<int>(owners_.size());
  if (here < 0 || here >= all || is_of(here, number) || take(here, number)) return;
  const Mask mask = mask_of(0);
  if (mask.count < static_cast<int>(homes_.size())) return;
  const std::int64_t home = homes_[static_cast<std::size_t>(number)];
  std::int64_t to = home >= 0 && mask.has(home) && is_of(home, number) ? home : -1;
  for (int i = 1; i < all && to < 0; ++i) {
    const int cpu = (here + i) % all;
    if (mask.has(cpu) && take(cpu, number)) to = cpu;
  }
  if (to < 0) return;
  Mask one{};
  CPU_SET_S(static_cast<std::size_t>(to), sizeof one.cpus, one.cpus);
  move_to(one, mask);
}

}  // namespace trine::cpu
