// The kernel `thin` (backends/gpu/kernels/transpose/thin.kernel.h) as host C++, a thread a work-item: its way through a warp's
// neighbours, which OpenCL on a CPU doesn't take. Compiled for each BYTES and MOST that there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <deque>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int kWarp = 32, kThreads = 2048 / MOST;
thread_local int my_item, my_group;
std::barrier<> group_barrier(kThreads);
std::deque<std::barrier<>> warp_barriers;
std::array<unsigned, kThreads> held;

// The words of the kernels' preludes.
using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
struct uint2 {
  uint x, y;
};
struct alignas(16) uint4 {
  uint x, y, z, w;
};
uint4 make_uint4(uint a, uint b, uint c, uint d) { return {a, b, c, d}; }
#define GLOBAL
#define LOCAL static
#define LOCAL_POINTER
#define DEVICE [[maybe_unused]] inline
#define INLINED DEVICE
#define RESTRICT
#define await_earlier_launches()
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define KERNEL_BOUNDED(name, x, y, groups) void name
#define HAVE_WARPS 1
int local_x() { return my_item; }
int group_x() { return my_group; }
void sync_warp() { warp_barriers[size_t(my_item / kWarp)].arrive_and_wait(); }
uint __shfl_sync(uint, uint v, int lane) {
  held[size_t(my_item)] = v;
  sync_warp();
  const uint r = held[size_t(my_item / kWarp) * kWarp + size_t(lane)];
  sync_warp();
  return r;
}
#include "backends/gpu/kernels/transpose/thin.kernel.h"

/// Lines `pitch` elements apart, the first at `offset` behind a boundary of 16 bytes, and what they become.
struct Case {
  bool tall;
  int lines;
  long count, pitch, offset;
};

void move_on_threads(const Case& c, Element* lines, Element* run, int groups, int overlap) {
  auto *line_bytes = reinterpret_cast<uchar*>(lines), *run_bytes = reinterpret_cast<uchar*>(run);
  std::vector<std::thread> items;
  items.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t)
    items.emplace_back([&, t] {
      my_item = t;
      for (my_group = 0; my_group < groups; ++my_group) {
        if (c.tall)
          thin(run_bytes, 0, 0, c.lines, 1, line_bytes, c.offset * BYTES, 0, 1, c.pitch, c.count,
               c.lines, 1, groups, overlap);
        else
          thin(line_bytes, c.offset * BYTES, 0, c.pitch, 1, run_bytes, 0, 0, 1, c.lines, c.lines,
               c.count, 1, groups, overlap);
        group_barrier.arrive_and_wait();
      }
    });
  for (std::thread& item : items) item.join();
}

void expect_moved(const Case& c) {
  static std::mt19937 random(7);
  constexpr Element kUntouched = Element(0xcdcd);
  constexpr size_t kBehind = 16;
  const size_t span = size_t(c.offset + (c.lines - 1) * c.pitch + c.count),
               whole = size_t(c.count * c.lines);
  const auto vectors = [](size_t elements) { return (elements + kBehind) * BYTES / 16 + 1; };
  std::vector<uint4> line_memory(vectors(span)), run_memory(vectors(whole));
  auto* lines = reinterpret_cast<Element*>(line_memory.data());
  auto* run = reinterpret_cast<Element*>(run_memory.data());
  std::fill_n(lines, span + kBehind, kUntouched);
  std::fill_n(run, whole + kBehind, kUntouched);
  std::generate_n(c.tall ? run : lines, c.tall ? whole : span, [&] { return Element(random()); });
  const int overlap = c.offset * BYTES % 16 != 0 || c.pitch * BYTES % 16 != 0;
  const long share = long(kThreads / kWarp) * (MOST / c.lines) * (kWarp - overlap);
  const long blocks = c.count * BYTES / 16 - 2;
  move_on_threads(c, lines, run, int(blocks > 0 ? (blocks + share - 1) / share : 1), overlap);
  int wrong = 0;
  for (long j = 0; j < c.count; ++j)
    for (int r = 0; r < c.lines; ++r)
      wrong += lines[c.offset + r * c.pitch + j] != run[j * c.lines + r];
  EXPECT_EQ(wrong, 0) << c.tall << " " << c.lines << " x " << c.count;
  for (size_t k = 0; k < kBehind; ++k) {
    EXPECT_EQ(lines[span + k], kUntouched) << "behind the lines";
    EXPECT_EQ(run[whole + k], kUntouched) << "behind the run";
  }
}

TEST(Thin, MovesLinesThatBeginAnywhere) {
  for (int w = 0; w < kThreads / kWarp; ++w) warp_barriers.emplace_back(kWarp);
  for (int lines = MOST == 8 ? 2 : 9; lines <= MOST; ++lines)
    for (const bool tall : {false, true}) {
      const long count = 36000 / BYTES / lines;
      expect_moved({tall, lines, count, count + 1, lines % 3});
      if (tall == (lines % 2 == 0)) expect_moved({tall, lines, count, (count + 15) / 16 * 16, 0});
    }
  for (const Case& c : std::vector<Case>{{true, MOST, 4200, 4201, 15},
                                         {false, MOST, 4200, 4201, 1},
                                         {true, MOST - 1, 47, 50, 2},
                                         {false, MOST - 1, 48, 50, 2}})
    expect_moved(c);
}

}  // namespace
