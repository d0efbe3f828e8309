// Contexts, their meetings, and the list of kernels.
#undef _FORTIFY_SOURCE  // takes a jump to another stack for a mistake
#include "emulated.hpp"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <map>
#include <new>
#include <stdexcept>

namespace emulated {

int local, group, groups;
alignas(128) unsigned char arena[kArena];

namespace {

constexpr int kMostItems = 1024, kWarp = 32;
constexpr std::size_t kStack = 128 << 10;

/// Those who wait for each other; a round ends when all have come.
struct Meeting {
  int come = 0, round = 0;
};
struct Item {
  jmp_buf at;
  bool begun = false, ended = true;
};
Item items[kMostItems];
Meeting group_meeting, part_meeting, warp_meetings[kMostItems / kWarp];
int alive, alive_in_warp[kMostItems / kWarp];
uint32_t held[kMostItems];
jmp_buf scheduler;
long events;
unsigned turn;  // launches take turns in the order of their work-items: up, down, scattered
Call running;
const uint64_t* passed;

void meet(Meeting& meeting, const int& all) {
  const int round = meeting.round;
  ++meeting.come;
  happened();
  while (meeting.round == round) {
    if (meeting.come >= all) {
      meeting.come = 0;
      ++meeting.round;
      happened();
    } else {
      yield();
    }
  }
}

void item_main() {
  running(passed);
  items[local].ended = true;
  --alive;
  --alive_in_warp[local / kWarp];
  happened();
  _longjmp(scheduler, 1);
}

char* stacks() {
  static void* const all = mmap(nullptr, kStack * kMostItems, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(all);
}

/// Until it waits or ends. Only its begin goes by ucontext, which asks the kernel for the signals'
/// mask each time.
void resume(int index) {
  local = index;
  if (_setjmp(scheduler) != 0) return;
  if (items[index].begun) _longjmp(items[index].at, 1);
  items[index].begun = true;
  static ucontext_t first;
  getcontext(&first);
  first.uc_stack.ss_sp = stacks() + std::size_t(index) * kStack;
  first.uc_stack.ss_size = kStack;
  first.uc_link = nullptr;
  makecontext(&first, item_main, 0);
  setcontext(&first);
}

void run_group(int count) {
  group_meeting = part_meeting = {};
  alive = count;
  for (int w = 0; w * kWarp < count; ++w) {
    warp_meetings[w] = {};
    alive_in_warp[w] = count - w * kWarp < kWarp ? count - w * kWarp : kWarp;
  }
  for (int i = 0; i < count; ++i) items[i].begun = items[i].ended = false;
  while (alive > 0) {
    const long before = events;
    for (int i = 0; i < count; ++i) {
      const int next = turn % 3 == 0 ? i : turn % 3 == 1 ? count - 1 - i : i * 37 % count;
      if (!items[next].ended) resume(next);
    }
    if (events == before) throw std::runtime_error("all work-items wait");
  }
}

std::map<std::string, Call>& all_kernels() {
  static std::map<std::string, Call> all;
  return all;
}

}  // namespace

void happened() { ++events; }
void yield() {
  const int me = local;
  if (_setjmp(items[me].at) == 0) _longjmp(scheduler, 1);
}
void sync_group() { meet(group_meeting, alive); }
void sync_warp() { meet(warp_meetings[local / kWarp], alive_in_warp[local / kWarp]); }
void sync_part(int count) { meet(part_meeting, count); }
uint32_t of_lane(uint32_t value, int lane) {
  held[local] = value;
  sync_warp();
  const uint32_t other = held[local / kWarp * kWarp + lane];
  sync_warp();
  return other;
}

Call kernel(const std::string& name) {
  const auto found = all_kernels().find(name);
  return found == all_kernels().end() ? nullptr : found->second;
}
std::vector<std::string> kernels() {
  std::vector<std::string> names;
  for (const auto& [name, call] : all_kernels()) names.push_back(name);
  return names;
}
bool keep(std::initializer_list<std::pair<const char*, Call>> kernels) {
  for (const auto& [name, call] : kernels) all_kernels()[name] = call;
  return true;
}

void run(Call call, const std::vector<uint64_t>& arguments, int grid, int count) {
  running = call;
  passed = arguments.data();
  groups = grid;
  ++turn;
  for (group = 0; group < grid; ++group) run_group(count);
}

}  // namespace emulated
