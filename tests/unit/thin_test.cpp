// The kernel `thin` (backends/gpu/kernels/transpose/thin.cl) as host C++, a thread a work-item: its way through a warp's
// neighbours, which OpenCL on a CPU doesn't take.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <cstring>
#include <deque>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int kWarp = 32, kThreads = 256;
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
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define KERNEL_BOUNDED(name, x, y, groups) void name
#define HAVE_WARPS 1
#define BYTES 1
#define MOST 8
int local_x() { return my_item; }
int group_x() { return my_group; }
void sync_warp() { warp_barriers[size_t(my_item / kWarp)].arrive_and_wait(); }
uint __shfl_sync(uint, uint v, int lane) {
  held[size_t(my_item)] = v;
  sync_warp();
  const uint r = held[size_t(my_item / kWarp * kWarp + lane)];
  sync_warp();
  return r;
}
#include "backends/gpu/kernels/transpose/thin.cl"

/// Lines `pitch` bytes apart, the first at `offset` behind a boundary of 16 bytes, and what they become.
struct Case {
  bool tall;
  int lines;
  long count, pitch, offset;
};

void move_on_threads(const Case& c, uchar* lines, uchar* run, int groups, int overlap) {
  std::vector<std::thread> items;
  for (int t = 0; t < kThreads; ++t)
    items.emplace_back([&, t] {
      my_item = t;
      for (my_group = 0; my_group < groups; ++my_group) {
        if (c.tall)
          thin(run, 0, 0, c.lines, 1, lines, c.offset, 0, 1, c.pitch, c.count, c.lines, 1, groups,
               overlap);
        else
          thin(lines, c.offset, 0, c.pitch, 1, run, 0, 0, 1, c.lines, c.lines, c.count, 1, groups,
               overlap);
        group_barrier.arrive_and_wait();
      }
    });
  for (std::thread& item : items) item.join();
}

TEST(Thin, MovesLinesThatBeginAnywhere) {
  for (int w = 0; w < kThreads / kWarp; ++w) warp_barriers.emplace_back(kWarp);
  std::mt19937 random(7);
  for (const Case& c : std::vector<Case>{{true, 2, 20000, 20000, 0},
                                         {true, 3, 13001, 13001, 3},
                                         {false, 3, 13001, 13001, 3},
                                         {false, 5, 9000, 9007, 0},
                                         {true, 8, 4200, 4201, 15},
                                         {false, 8, 4200, 4201, 1},
                                         {true, 7, 47, 50, 2},
                                         {false, 7, 48, 50, 2}}) {
    const size_t span = size_t(c.offset + (c.lines - 1) * c.pitch + c.count);
    std::vector<uint4> line_memory(span / 16 + 2), run_memory(size_t(c.count * c.lines) / 16 + 2);
    auto* lines = reinterpret_cast<uchar*>(line_memory.data());
    auto* run = reinterpret_cast<uchar*>(run_memory.data());
    std::memset(lines, 0xcd, span + 16);
    std::memset(run, 0xcd, size_t(c.count * c.lines) + 16);
    uchar* source = c.tall ? run : lines;
    for (size_t k = 0; k < (c.tall ? size_t(c.count * c.lines) : span); ++k)
      source[k] = uchar(random());
    const int overlap = c.offset % 16 != 0 || c.pitch % 16 != 0;
    const long share = long(kThreads / kWarp) * (MOST / c.lines) * (kWarp - overlap);
    const long blocks = c.count / 16 - 2;
    move_on_threads(c, lines, run, int(blocks > 0 ? (blocks + share - 1) / share : 1), overlap);
    int wrong = 0;
    for (long j = 0; j < c.count; ++j)
      for (int r = 0; r < c.lines; ++r)
        wrong += lines[c.offset + r * c.pitch + j] != run[j * c.lines + r];
    EXPECT_EQ(wrong, 0) << c.tall << " " << c.lines << " x " << c.count;
    for (size_t k = 0; k < 16; ++k) {
      EXPECT_EQ(lines[span + k], 0xcd) << "behind the lines";
      EXPECT_EQ(run[size_t(c.count * c.lines) + k], 0xcd) << "behind the run";
    }
  }
}

}  // namespace
