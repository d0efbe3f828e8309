// The pieces of an exact sum, compiled once per instruction set: along one result's elements, or
// across a strip of results.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/exact_sum.cpp"
#include <array>
#include <cstring>
#include <span>

#include "arithmetic.hpp"
#include "exact_sum.hpp"
#include "hwy/cache_control.h"
#include "simd.hpp"

#include "exact_bins-inl.hpp"
#include "exact_round-inl.hpp"
#include "exact_table-inl.hpp"
#include "exact_window-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

// --- Along -----------------------------------------------------------------------------------

// What lane `lane` added to bin `k`, which is not the last, in units.
HWY_INLINE std::int64_t units_in(const Bins& bins, int k, int lane) {
  return std::bit_cast<std::int64_t>(bins.value[k][lane]) -
         std::bit_cast<std::int64_t>(bins.anchor[k]);
}

std::span<const double> last_bin(const Bins& bins) {
  if (bins.count == 0) return {};
  return {bins.value[bins.count - 1], static_cast<std::size_t>(kGroup)};
}

// All lanes belong to one result.
template <class T, trine_map M>
struct WholeSink {
  SuperAccumulator& total;
  PairTable& table;

  void flush(const Bins& bins) {
    for (int k = 0; k < bins.count - 1; ++k) {
      std::int64_t units = 0;
      for (int lane = 0; lane < kGroup; ++lane) units += units_in(bins, k, lane);
      if (units != 0) total.add(units, bins.unit[k]);
    }
    // What a row adds to a last bin is below 2^42 units, so lanes with 2^11 rows between them add up in
    // one double. f32 rows of 256 elements took 122 ns each with 16 additions to the accumulator, and 76.
    const std::span<const double> last = last_bin(bins);
    const std::size_t together = (1 << 11) / std::max(bins.rows, 1);
    for (std::size_t lane = 0; lane < last.size(); lane += together) {
      double sum = 0;
      for (const double rest : last.subspan(lane, std::min(together, last.size() - lane)))
        sum += rest;
      total.add(sum);
    }
  }
  void slow(const Tile<T>& tile) { add_by_exponent<T, M>(tile, table, total); }
};

// `count` neighbours in memory.
template <class T, trine_map M>
void add_run(const T* x, const T* y, std::int64_t count, Windows& windows, WholeSink<T, M>& sink) {
  constexpr std::int64_t kTile = 256;
  for (; count >= kGroup;) {
    const auto rows = static_cast<int>(std::min(kTile, count / kGroup));
    add_tile<T, M>({{x, kGroup, 1}, {y, kGroup, 1}, rows}, windows, sink);
    x += std::ptrdiff_t(rows) * kGroup, y += std::ptrdiff_t(rows) * kGroup;
    count -= std::int64_t(rows) * kGroup;
  }
  if (count == 0) return;
  T last[2][kGroup] = {};
  std::copy(x, x + count, last[0]);
  std::copy(y, y + count, last[1]);
  add_tile<T, M>({{last[0], kGroup, 1}, {last[1], kGroup, 1}, 1}, windows, sink);
}

template <class T, trine_map M>
void sum_along(const Problem& p, std::int64_t r, std::int64_t begin, std::int64_t end,
               SumScratch& scratch, SuperAccumulator& total) {
  Windows& windows = scratch.windows[0];
  WholeSink<T, M> sink{total, scratch.table};
  each_chunk<T>(p, r, begin, end, scratch.elements<T>(0), false,
                [&](const T* x, std::int64_t count, std::int64_t at) {
                  if (p.map != TRINE_PRODUCT) return add_run<T, M>(x, x, count, windows, sink);
                  each_chunk<T>(p.second, r, at, at + count, scratch.elements<T>(1), false,
                                [&](const T* y, std::int64_t some, std::int64_t from) {
                                  add_run<T, M>(x + (from - at), y, some, windows, sink);
                                });
                });
  flush(windows.narrow, sink);
  flush(windows.wide, sink);
  empty_table(scratch.table, total);
}

// --- Across ----------------------------------------------------------------------------------

// Every lane belongs to a result of its own; its accumulator is used when bins don't suffice.
template <class T, trine_map M>
struct LaneSink {
  SuperAccumulator* lane;
  bool used = false;

  void open() {
    if (used) return;
    used = true;
    for (int i = 0; i < kGroup; ++i) lane[i].clear();
  }
  void flush(const Bins& bins) {
    open();
    for (int i = 0; i < kGroup; ++i)
      for (int k = 0; k < bins.count - 1; ++k)
        if (const std::int64_t units = units_in(bins, k, i)) lane[i].add(units, bins.unit[k]);
    int i = 0;
    for (const double rest : last_bin(bins)) lane[i++].add(rest);
  }
  void slow(const Tile<T>& tile) {
    open();
    for (int i = 0; i < kGroup; ++i) add_one_by_one<T, M>(tile, i, lane[i]);
  }
};

// Lanes [first, first + width) of a strip. Narrow groups are folded: lane f * width + j takes every
// `folds`-th row of result j, and its sum joins lane j's in the end.
struct Group {
  std::int64_t first;
  int width;
  int folds;
};

// Row `row` of a group and those below, where they lie.
template <class T>
Lie<T> in_place(const Elements& e, const Group& g, std::int64_t row) {
  return {e.begin<T>(g.first) + row * e.inner_step, e.inner_step * g.folds, e.output_step};
}

bool lies_in_place(const Elements& e, const Group& g) {
  if (g.width * g.folds != kGroup) return false;
  if (g.folds > 1) return e.output_step == 1 && e.inner_step == g.width;
  return e.output_step * kGroup < std::numeric_limits<std::int32_t>::max();
}

// Rows [row, end) of a group, padded with zeros.
template <class T>
Lie<T> packed(const Elements& e, const Group& g, std::int64_t row, std::int64_t end, T* buffer) {
  std::fill(buffer, buffer + divide_up(end - row, g.folds) * kGroup, T(0));
  for (int f = 0; f < g.folds; ++f) {
    for (int i = 0; row + f + std::int64_t(i) * g.folds < end; ++i) {
      const T* from = e.begin<T>(g.first) + (row + f + std::int64_t(i) * g.folds) * e.inner_step;
      T* to = buffer + std::ptrdiff_t(i) * kGroup + f * g.width;
      for (int j = 0; j < g.width; ++j) to[j] = from[j * e.output_step];
    }
  }
  return {buffer, kGroup, 1};
}

// Rows [row, end) of a group as tiles of kGroup lanes: in place, gathered, or packed.
template <class T, trine_map M>
void add_group_rows(const Problem& p, const Group& g, std::int64_t row, std::int64_t end,
                    SumScratch& scratch, Windows& windows, LaneSink<T, M>& sink) {
  const Elements& y = p.factor();
  if (lies_in_place(p, g) && lies_in_place(y, g)) {
    const auto rows = static_cast<int>((end - row) / g.folds);
    if (rows > 0)
      add_tile<T, M>({in_place<T>(p, g, row), in_place<T>(y, g, row), rows}, windows, sink);
    row += std::int64_t(rows) * g.folds;
  }
  if (row == end) return;
  const auto rows = static_cast<int>(divide_up(end - row, g.folds));
  const Lie<T> x = packed(p, g, row, end, scratch.elements<T>(0));
  add_tile<T, M>(
      {x, p.map == TRINE_PRODUCT ? packed(y, g, row, end, scratch.elements<T>(1)) : x, rows},
      windows, sink);
}

template <class R>
void store_group(const Problem& p, const Group& g, const Bins& bins) {
  R rounded[kGroup] = {};
  if (bins.count == 0) {
    // Nothing but zeros.
  } else if constexpr (std::is_same_v<R, double>) {
    round_bins(bins, rounded, nullptr);
  } else {
    round_bins(bins, nullptr, rounded);
  }
  for (int j = 0; j < g.width; ++j) {
    if (rounded[j] == 0 && all_negative_zero(p, g.first + j)) rounded[j] = -R(0);
    p.result<R>(g.first + j) = rounded[j];
  }
}

// The group's rows are in: round its bins, or bring bins and lanes together.
template <class T, trine_map M>
void finish_group(const SumPiece& piece, const Group& g, std::int64_t part, const Windows& windows,
                  LaneSink<T, M>& sink) {
  const Problem& p = *piece.problem;
  const bool both = windows.narrow.rows > 0 && windows.wide.rows > 0;
  const Bins& bins = windows.wide.rows > 0 ? windows.wide : windows.narrow;
  const bool rounds = p.result_dtype != TRINE_U64;
  if (!sink.used && !both && !piece.partials && g.folds == 1 && rounds) {
    return with_float(p.result_dtype, [&]<class R>(R) { store_group<R>(p, g, bins); });
  }
  sink.flush(windows.narrow);
  sink.flush(windows.wide);
  for (int f = 1; f < g.folds; ++f)
    for (int j = 0; j < g.width; ++j) sink.lane[j].merge(sink.lane[f * g.width + j]);
  for (int j = 0; j < g.width; ++j) {
    if (piece.partials) {
      SuperAccumulator& partial = piece.partials[(g.first + j) * piece.plan->parts + part];
      partial.clear();
      partial.merge(sink.lane[j]);
    } else {
      store_sum(p, g.first + j, sink.lane[j]);
    }
  }
}

template <class T, trine_map M>
void sum_strip(const SumPiece& piece, std::int64_t first, std::int64_t width, std::int64_t part,
               std::int64_t begin, std::int64_t end) {
  constexpr int kMostGroups = kStrip / kGroup;
  const Problem& p = *piece.problem;
  SumScratch& scratch = *piece.scratch;
  Group groups[kMostGroups];
  LaneSink<T, M> sinks[kMostGroups];
  int count = 0;
  for (std::int64_t lane = 0; lane < width; lane += kGroup, ++count) {
    const auto lanes = static_cast<int>(std::min<std::int64_t>(kGroup, width - lane));
    groups[count] = {first + lane, lanes, end - begin >= 64 ? kGroup / lanes : 1};
    sinks[count].lane = scratch.lane + lane;
    empty_bins(scratch.windows[count].narrow);
    empty_bins(scratch.windows[count].wide);
  }
  // Few rows of many groups at a time: a row of the strip is read from end to end, and a group's
  // bins are loaded once for all of them.
  const std::int64_t tile = count > 1 ? 16 : 256;
  for (std::int64_t row = begin; row < end; row += tile)
    for (int i = 0; i < count; ++i)
      add_group_rows<T, M>(p, groups[i], row, std::min(end, row + tile), scratch,
                           scratch.windows[i], sinks[i]);
  for (int i = 0; i < count; ++i)
    finish_group<T, M>(piece, groups[i], part, scratch.windows[i], sinks[i]);
}

// --- Work ------------------------------------------------------------------------------------

template <class T, trine_map M>
void sum_piece(const SumPiece& piece, std::int64_t index) {
  const auto along = [&](std::int64_t r, std::int64_t part, std::int64_t begin, std::int64_t end) {
    SuperAccumulator& total =
        piece.partials ? piece.partials[r * piece.plan->parts + part] : piece.scratch->total;
    total.clear();
    sum_along<T, M>(*piece.problem, r, begin, end, *piece.scratch, total);
    if (!piece.partials) store_sum(*piece.problem, r, total);
  };
  piece.each_part(index, along, [&](auto... strip) { sum_strip<T, M>(piece, strip...); });
}

// Brings the parts of result `r` together.
void finish_sum(const SumPiece& piece, std::int64_t r) {
  SuperAccumulator* const part = piece.partials + r * piece.plan->parts;
  for (std::int64_t i = 1; i < piece.plan->parts; ++i) part->merge(part[i]);
  store_sum(*piece.problem, r, *part);
}

SumWork sum_work(const Problem& p) {
  return with_float(p.dtype, [&]<class T>(T) -> SumWork {
    switch (p.map) {
      case TRINE_ABS: return {sum_piece<T, TRINE_ABS>, finish_sum};
      case TRINE_SQUARE: return {sum_piece<T, TRINE_SQUARE>, finish_sum};
      case TRINE_PRODUCT: return {sum_piece<T, TRINE_PRODUCT>, finish_sum};
      default: return {sum_piece<T, TRINE_IDENTITY>, finish_sum};
    }
  });
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(sum_work);

SumWork sum_work(const Problem& p) { return HWY_DYNAMIC_DISPATCH(sum_work)(p); }

bool all_negative_zero(const Problem& p, std::int64_t r) {
  if (p.map == TRINE_ABS || p.map == TRINE_SQUARE || p.length() == 0) return false;
  return with_float(p.dtype, [&]<class T>(T) {
    for (std::int64_t i = 0; i < p.length(); ++i) {
      const T x = p.at<T>(r, i), y = p.map == TRINE_PRODUCT ? p.second.at<T>(r, i) : T(1);
      if ((x != 0 && y != 0) || std::signbit(x) == std::signbit(y)) return false;
    }
    return true;
  });
}

void store_sum(const Problem& p, std::int64_t r, SuperAccumulator& total) {
  if (p.result_dtype == TRINE_U64)
    return total.store(&p.result<std::uint64_t>(r), all_negative_zero(p, r));
  with_float(p.result_dtype, [&]<class R>(R) {
    R sum = total.round<R>();
    if (sum == 0 && all_negative_zero(p, r)) sum = -R(0);
    p.result<R>(r) = sum;
  });
}

}  // namespace trine::cpu
#endif  // HWY_ONCE
