// One result's elements, or a part of them: plainly, or through bins whose contents meet in an
// accumulator.

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

// All lanes belong to one result.
template <class T, trine_map M>
struct WholeSink {
  SuperAccumulator& total;

  void flush(const Bins& bins) {
    for (int k = 0; k < bins.count - 1; ++k) {
      std::int64_t units = 0;
      for (int lane = 0; lane < kGroup; ++lane) units += units_in(bins, k, lane);
      if (units != 0) total.add(units, bins.unit[k]);
    }
    // A row adds less than 2^42 units to a last bin, so lanes with 2^11 rows between them add
    // up in one double. f32 rows of 256 elements took 122 ns each with 16 additions to the
    // accumulator, and 76.
    const std::span<const double> last = last_bin(bins);
    const std::size_t together = (1 << 11) / std::max(bins.rows, 1);
    for (std::size_t lane = 0; lane < last.size(); lane += together) {
      double sum = 0;
      for (const double rest : last.subspan(lane, std::min(together, last.size() - lane)))
        sum += rest;
      total.add(sum);
    }
  }
  void slow(const Tile<T>& tile) { add_to_limbs<T, M, 1>(tile, &total); }
};

// `count` neighbours in memory, through bins.
template <class T, trine_map M>
void add_to_bins(const T* x, const T* y, std::int64_t count, Windows& windows,
                 WholeSink<T, M>& sink) {
  constexpr std::int64_t kTile = 256;
  for (; count >= kGroup;) {
    const auto rows = static_cast<int>(std::min(kTile, count / kGroup));
    add_tile<T, M>({{x, kGroup}, {y, kGroup}, rows}, windows, sink);
    x += std::ptrdiff_t(rows) * kGroup, y += std::ptrdiff_t(rows) * kGroup;
    count -= std::int64_t(rows) * kGroup;
  }
  if (count == 0) return;
  T last[2][kGroup] = {};
  std::copy(x, x + count, last[0]);
  std::copy(y, y + count, last[1]);
  add_tile<T, M>({{last[0], kGroup}, {last[1], kGroup}, 1}, windows, sink);
}

// By plain additions. False, and nothing added, if one was inexact or an element not finite.
template <class T, trine_map M>
bool add_plainly(const T* x, const T* y, std::int64_t count, SuperAccumulator& total) {
  double halves[2];
  Inexact::lower();
  sum_neighbours<T, M>(x, y, count, halves);
  if (Inexact::is_raised() || !std::isfinite(halves[1])) return false;
  for (const double half : halves) total.add(half);
  return true;
}

// `count` neighbours in memory.
template <class T, trine_map M>
void add_run(const T* x, const T* y, std::int64_t count, SumScratch& scratch,
             WholeSink<T, M>& sink) {
  constexpr std::int64_t kBlock = (1 << 17) / sizeof(T);
  for (std::int64_t some; count > 0; x += some, y += some, count -= some) {
    some = std::min(count, kBlock);
    if constexpr (kIsPlain<T, M>)
      if (Inexact::is_told() &&
          scratch.caution.tries([&] { return add_plainly<T, M>(x, y, some, sink.total); }))
        continue;
    add_to_bins<T, M>(x, y, some, scratch.window(0), sink);
  }
}

template <class T, trine_map M>
void sum_along(const Problem& p, std::int64_t r, std::int64_t begin, std::int64_t end,
               SumScratch& scratch, SuperAccumulator& total) {
  WholeSink<T, M> sink{total};
  each_chunk<T>(p, r, begin, end, scratch.elements<T>(0), false,
                [&](const T* x, std::int64_t count, std::int64_t at) {
                  if (p.map != TRINE_PRODUCT) return add_run<T, M>(x, x, count, scratch, sink);
                  each_chunk<T>(p.second, r, at, at + count, scratch.elements<T>(1), false,
                                [&](const T* y, std::int64_t some, std::int64_t from) {
                                  add_run<T, M>(x + (from - at), y, some, scratch, sink);
                                });
                });
  if (scratch.windows_made > 0) {
    flush(scratch.windows[0].narrow, sink);
    flush(scratch.windows[0].wide, sink);
  }
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
