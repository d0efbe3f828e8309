// How `tensor_specialized` copies panels, reads fragments and stores C
// (backends/gpu/kernels/gemm/tensor_block.h), as host C++: the copying work-items one after
// another, then the multiplying ones. Compiled for some tiles, each LAYOUT and T. Numbers lie at
// the edge of a page that may not be touched, and a vector may touch nothing but them, to the byte.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "tests/emulated_gpu/numbers.hpp"

namespace {

int my_item;

// The words of the kernels' preludes, and the constants of tensor_specialized.kernel.h.
using uint = unsigned int;
using ulong = unsigned long;
using emulated::Numbers;
using double2 = Numbers<double, 2>;
using float2 = Numbers<float, 2>;
using float4 = Numbers<float, 4>;
[[maybe_unused]] double2 make_double2(double x, double y) { return {x, y}; }
[[maybe_unused]] float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
[[maybe_unused]] uint as_uint(float x) { return std::bit_cast<uint>(x); }
[[maybe_unused]] float as_float(uint x) { return std::bit_cast<float>(x); }
#define GLOBAL
#define LOCAL_POINTER
#define DEVICE [[maybe_unused]] inline
#define RESTRICT
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define HAVE_PTX 0
int local_x() { return my_item; }
#define T ELEMENT
#define FRAGMENT T
#define CHAIN double
#define CHAINS_END 0
#define FUSED (WIDTH == 4)
constexpr int COPIERS = 128, STAGES = 4;
constexpr int TILE_M = WARPS_DOWN * 16 * DOWN_BLOCKS, TILE_N = WARPS_ACROSS * 8 * ACROSS_BLOCKS;
constexpr int MULTIPLIERS = WARPS_DOWN * WARPS_ACROSS * 32;
#include "backends/gpu/kernels/gemm/problem.h"
#include "backends/gpu/kernels/gemm/tensor_block.h"

/// Numbers that begin where readable memory begins, or end where it ends; what else is there is no
/// number.
class Memory {
 public:
  Memory(long count, bool at_end) {
    const size_t bytes = (static_cast<size_t>(count) * sizeof(T) + kPage - 1) / kPage * kPage;
    size_ = bytes + 2 * kPage;
    base_ = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* const begin = static_cast<char*>(base_) + kPage;
    EXPECT_EQ(mprotect(begin, bytes, PROT_READ | PROT_WRITE), 0);
    auto *const all = reinterpret_cast<T*>(begin), *const end = all + bytes / sizeof(T);
    std::fill(all, end, NAN);
    first_ = at_end ? end - count : all;
    // A vector of an odd row may begin before the row, and so before the first number, in the same
    // 16 bytes.
    const char* const number = reinterpret_cast<char*>(first_);
    emulated::extents.push_back({begin, begin + bytes,
                                 number - reinterpret_cast<uintptr_t>(number) % 16,
                                 reinterpret_cast<char*>(first_ + count)});
  }
  ~Memory() {
    munmap(base_, size_);
    emulated::extents.pop_back();  // they end as they began, the last one first
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  T* first() const { return first_; }

 private:
  static constexpr size_t kPage = 4096;
  void* base_;
  size_t size_;
  T* first_;
};

/// A matrix by lanes (rows of A, columns of B) and steps of k, whose element (lane, l) is
/// value(lane, l).
struct Operand {
  long lanes, k, lane_stride, k_stride;
  Memory memory;

  Operand(long count, long depth, bool by_lanes, long padding, bool at_end)
      : lanes(count),
        k(depth),
        lane_stride(by_lanes ? depth + padding : 1),
        k_stride(by_lanes ? 1 : count + padding),
        memory((count - 1) * lane_stride + (depth - 1) * k_stride + 1, at_end) {
    for (long lane = 0; lane < lanes; ++lane)
      for (long l = 0; l < k; ++l)
        memory.first()[lane * lane_stride + l * k_stride] = value(lane, l);
  }
  static T value(long lane, long l) { return T(1 + lane * 4096 + l); }
  T at(long lane, long l) const { return lane < lanes && l < k ? value(lane, l) : 0; }
  bool odd() const { return ODD_ROWS && std::max(lane_stride, k_stride) % 2 != 0; }
};

/// Lanes whose elements take all banks at once: half a warp or, of f32, a warp.
constexpr int kAtOnce = 128 / sizeof(T);

/// Where lanes find their elements in a panel: what is there, and that no bank is met twice at
/// once.
template <class First, class Line>
void expect_places(const Operand& x, const T* panel, const T* begin, long lane0, long l0,
                   First first, Line line) {
  for (int at = 0; at < 32; at += kAtOnce) {
    std::set<long> banks;
    for (int lane = at; lane < at + kAtOnce; ++lane) {
      const int place = first(lane);
      EXPECT_EQ(panel[place], x.at(lane0 + line(lane), l0 + lane % 4));
      EXPECT_TRUE(banks.insert(place % kAtOnce).second) << "lane " << lane;
      if (x.odd()) {
        const T* from = begin + line(lane) * x.lane_stride + lane % 4 * x.k_stride;
        EXPECT_EQ(long(uintptr_t(from) / 8 - uintptr_t(place)) % 4, 0)
            << "another place of 32 bytes";
      }
    }
  }
}

/// C = its own places, by the tiles of an m x n matrix, from panels of A and B that hold what they
/// should.
void multiply(long m, long n, long k, long padding, bool at_end) {
  const Operand x(m, k, A_BY_LANES, padding, at_end), y(n, k, B_BY_LANES, padding, at_end);
  const long a_row = x.lane_stride, a_col = x.k_stride, b_row = y.k_stride, b_col = y.lane_stride;
  const int flags = MULTIPLY | ODD_FLAGS;
  const Memory c(m * n, at_end);
  alignas(128) static T a_panel[PANEL_A], b_panel[PANEL_B];
  [[maybe_unused]] alignas(128) static T lines[TILE_M * LINE];
  for (long i1 = 0; i1 < m; i1 += TILE_M)
    for (long j1 = 0; j1 < n; j1 += TILE_N) {
      const long i0 = inwards(i1, m, TILE_M), j0 = inwards(j1, n, TILE_N);
      const T *a = x.memory.first() + i0 * a_row, *b = y.memory.first() + j0 * b_col;
      std::vector<PanelLoader> a_loader, b_loader;
      for (int u = 0; u < COPIERS; ++u) {
        a_loader.push_back(LOADER_A(a, m - i0, u));
        b_loader.push_back(LOADER_B(b, n - j0, u));
      }
      for (long l0 = 0; l0 < k; l0 += DEPTH) {
        std::ranges::fill(a_panel, NAN);
        std::ranges::fill(b_panel, NAN);
        for (int u = 0; u < COPIERS; ++u) {
          COPY_A(&a_loader[size_t(u)], a_panel, k - l0, u);
          COPY_B(&b_loader[size_t(u)], b_panel, k - l0, u);
        }
        for (int warp = 0; warp < MULTIPLIERS / 32; ++warp) {
          const int row = warp % WARPS_DOWN * BLOCK_M, col = warp / WARPS_DOWN * BLOCK_N;
          const auto row_of = [&](int lane) { return line_of(row + lane / 4, flags & ODD_A); };
          const auto col_of = [&](int lane) { return line_of(col + lane / 4, flags & ODD_B); };
          expect_places(
              x, a_panel, a, i0, l0, [&](int lane) { return FIRST_OF_A(a, row, lane); }, row_of);
          expect_places(
              y, b_panel, b, j0, l0, [&](int lane) { return FIRST_OF_B(b, col, lane); }, col_of);
          for (int lane = 0; lane < 32; ++lane)
            for (int l = 0; l < DEPTH; l += STEP) {
              FRAGMENT u[X_COUNT], v[Y_COUNT];
              float squares[SQUARE_COUNT] = {};
              read_fragments(u, v, a_panel + FIRST_OF_A(a, row, lane) + l * A_STEP,
                             b_panel + FIRST_OF_B(b, col, lane) + l * B_STEP, squares, true);
              // As mma.h has them: a row of 8 (16 down: two), then k in steps of 4.
              for (int e = 0; e < X_COUNT; ++e)
                EXPECT_EQ(u[e], x.at(i0 + row_of(lane) + (e / (STEP / 2) * 2 + e % 2) * NEXT_M,
                                     l0 + l + lane % 4 + e % (STEP / 2) / 2 * 4));
              for (int e = 0; e < Y_COUNT; ++e)
                EXPECT_EQ(v[e], y.at(j0 + col_of(lane) + e / (STEP / 4) * NEXT_N,
                                     l0 + l + lane % 4 + e % (STEP / 4) * 4));
            }
        }
      }
#if WIDTH == 2  // f32 isn't stored lane by lane: certain_block.h
      // Twice, since a tile can pass through local memory: the first time some store what isn't
      // there yet.
      for (int item = 0; item < 2 * MULTIPLIERS; ++item) {
        my_item = item % MULTIPLIERS;
        const int warp = my_item / 32, lane = my_item % 32;
        const int row = warp % WARPS_DOWN * BLOCK_M, col = warp / WARPS_DOWN * BLOCK_N;
        CHAIN acc[ACC_ROWS][ACC_COLS], again[ACC_ROWS][ACC_COLS] = {};
        for (int i = 0; i < ACC_ROWS; ++i)
          for (int e = 0; e < ACC_COLS; ++e) {
            const long u = line_of(row + lane / 4, flags & ODD_A) + (i * 2 + e % 4 / 2) * NEXT_M;
            const long v = line_of(col + lane % 4 * 2 + e % 2, flags & ODD_B) + e / 4 * NEXT_N;
            acc[i][e] = double((i0 + u) * n + j0 + v);
          }
        T* const to = c.first() + (i0 + row) * n + j0 + col;
        store_block(to, n, i1 - i0 - row, m - i0 - row, j1 - j0 - col, n - j0 - col, acc, lines,
                    lane, 1, 0, flags);
        if (item < MULTIPLIERS) continue;
        begin_block(to, n, i1 - i0 - row, m - i0 - row, j1 - j0 - col, n - j0 - col, again, lane,
                    flags);
        for (int i = 0; i < ACC_ROWS; ++i)
          for (int e = 0; e < ACC_COLS; ++e)
            EXPECT_TRUE(again[i][e] == 0 || again[i][e] == acc[i][e]);
      }
#endif
    }
  for (long e = 0; e < m * n && WIDTH == 2; ++e)
    ASSERT_EQ(c.first()[e], T(e)) << m << "x" << n << " by " << k;
  for (const std::string& what : emulated::outside) ADD_FAILURE() << what;
}

TEST(TensorPanel, HoldsWhatLanesReadWhereverRowsBegin) {
  for (const long k : {1L, DEPTH - 1L, DEPTH + 0L, DEPTH + 1L, 2L * DEPTH + 3})
    for (const long m : {TILE_M - 3L, TILE_M + 0L, TILE_M + 5L})
      for (const long n : {TILE_N - 3L, TILE_N + 0L, TILE_N + 6L})
        for (const long padding : {0, 1, 2, 3})
          for (const bool at_end : {false, true}) {
            multiply(m, n, k, padding, at_end);
            if (HasFailure()) FAIL() << m << "x" << n << " by " << k << ", padding " << padding;
          }
}

}  // namespace
