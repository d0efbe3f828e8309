// The exact sum of floats: what one thread needs for it, and the pieces of work it is made of.
// exact_sum.cpp compiles the pieces once per instruction set; exact.cpp spreads them over threads.
#pragma once

#include <new>

#include "plan.hpp"
#include "super_accumulator.hpp"

namespace trine::cpu {

// Accumulators of one group of lanes: bins of 40 bits each, from the largest element downwards.
// Bin k holds its anchor, 1.5 * 2^52 units of 2^unit[k], plus what was added; the last has none.
struct Bins {
  static constexpr int kMost = 10, kLanes = 16;

  int count = 0;                       // bins in use; 0: no window chosen yet
  int rows = 0;                        // added to each lane since the bins were emptied
  int misses = 0;                      // tiles in a row that didn't fit
  int skip = 0;                        // tiles to pass on unseen
  std::uint64_t above = 0, below = 0;  // what magnitudes it admits (exact_bins-inl.hpp: Extent)
  int top = 0;                         // magnitudes are below 2^top
  int unit[kMost];
  double anchor[kMost];
  alignas(64) double value[kMost][kLanes];
};

// A few bins for what elements usually are, more for the tiles that don't fit: one small element
// among thousands should not slow down all that follow it.
struct Windows {
  Bins narrow, wide;
};

// Whether to try what may fail and then has cost time: after a failure the next ones are left out,
// twice as many each time.
struct Caution {
  int misses = 0, skip = 0;

  template <class Attempt>
  bool tries(Attempt&& attempt) {
    if (skip > 0) return --skip, false;
    if (attempt()) return misses = 0, true;
    skip = misses = std::min(2 * misses + 1, 15);
    return false;
  }
};

// Results side by side, added plainly: columns of f32 256×65536 were at 55 to 61 GB/s with 2048 to
// 8192 of them and 512, at 56 to 79 with these.
inline constexpr std::int64_t kWideStrip = 1024;

struct SumScratch {
  Caution caution;
  SuperAccumulator total;
  int windows_made = 0;
  // Half a megabyte that most sums don't need: what is used is made first.
  union {
    Windows windows[kStrip / 2];
  };
  union {
    SuperAccumulator lane[kStrip];
  };
  alignas(64) double sums[2 * kWideStrip];                   // halves of results
  alignas(64) std::byte buffer[2][kChunk * sizeof(double)];  // of an input each

  SumScratch() {}  // NOLINT(modernize-use-equals-default): it would be deleted

  Windows& window(int i) {
    while (windows_made <= i) new (&windows[windows_made++]) Windows;
    return windows[i];
  }

  template <class T>
  T* elements(int input) {
    return reinterpret_cast<T*>(buffer[input]);
  }
};

// The sum of a part: two doubles, if these are exact, or what the accumulator holds that
// each part has behind all parts.
struct alignas(SuperAccumulator) SumPart {
  using Behind = SuperAccumulator;
  bool is_plain;
  double high, low;
};

// A sum of f32 or f64. Without partials, results are rounded and stored.
using SumPiece = Piece<SumScratch, SumPart>;
using SumWork = Work<SumScratch, SumPart>;

// Part `part` of result `r`, to be filled by anything.
inline SuperAccumulator& open_part(const SumPiece& piece, std::int64_t r, std::int64_t part) {
  piece.partial(r, part).is_plain = false;
  piece.behind(r, part).clear();
  return piece.behind(r, part);
}
SumWork sum_work(const Problem& p);

// Stores a state, or a rounded result; a zero becomes -0 where every input is -0.
void store_sum(const Problem& p, std::int64_t r, SuperAccumulator& total);
bool all_negative_zero(const Problem& p, std::int64_t r);

}  // namespace trine::cpu
