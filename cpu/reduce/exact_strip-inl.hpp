// A strip of results through bins: every lane belongs to a result of its own.

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

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
    add_to_limbs<T, M, kGroup>(tile, lane);
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
Strided<T> in_place(const Elements& e, const Group& g, std::int64_t row) {
  return {e.begin<T>(g.first) + row * e.inner_step, e.inner_step * g.folds};
}

bool lies_in_place(const Elements& e, const Group& g) {
  return g.width * g.folds == kGroup && e.output_step == 1 &&
         (g.folds == 1 || e.inner_step == g.width);
}

// kGroup elements, `step` apart, become neighbours.
template <class T>
HWY_INLINE void gather_row(const T* from, std::ptrdiff_t step, T* to) {
  using R = Row<T>;
  const hn::RebindToSigned<typename R::DT> di;
  const auto lanes =
      hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<hn::TFromD<decltype(di)>>(step)));
  for (int i = 0; i < kGroup; i += R::kLanes)
    hn::StoreU(hn::GatherIndex(typename R::DT(), from + i * step, lanes), typename R::DT(), to + i);
}

// Rows [row, end) of a group, padded with zeros.
template <class T>
Strided<T> packed(const Elements& e, const Group& g, std::int64_t row, std::int64_t end,
                  T* buffer) {
  if (g.width == kGroup && e.output_step * kGroup < std::numeric_limits<std::int32_t>::max()) {
    const T* from = e.begin<T>(g.first) + row * e.inner_step;
    for (T* to = buffer; row < end; ++row, from += e.inner_step, to += kGroup)
      gather_row(from, e.output_step, to);
    return {buffer, kGroup};
  }
  std::fill(buffer, buffer + divide_up(end - row, g.folds) * kGroup, T(0));
  for (int f = 0; f < g.folds; ++f) {
    for (int i = 0; row + f + std::int64_t(i) * g.folds < end; ++i) {
      const T* from = e.begin<T>(g.first) + (row + f + std::int64_t(i) * g.folds) * e.inner_step;
      T* to = buffer + std::ptrdiff_t(i) * kGroup + f * g.width;
      for (int j = 0; j < g.width; ++j) to[j] = from[j * e.output_step];
    }
  }
  return {buffer, kGroup};
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
  const Strided<T> x = packed(p, g, row, end, scratch.elements<T>(0));
  add_tile<T, M>(
      {x, p.map == TRINE_PRODUCT ? packed(y, g, row, end, scratch.elements<T>(1)) : x, rows},
      windows, sink);
}

template <class R>
void store_results(const Problem& p, std::int64_t first, std::int64_t count, const R* results) {
  for (std::int64_t j = 0; j < count; ++j) p.result<R>(first + j) = results[j];
}

template <class R>
void store_group(const Problem& p, const Group& g, const Bins& bins) {
  R rounded[kGroup] = {};
  if (bins.count > 0) round_bins(bins, rounded);  // else there was nothing but zeros
  for (int j = 0; j < g.width; ++j)
    if (rounded[j] == 0 && all_negative_zero(p, g.first + j)) rounded[j] = -R(0);
  store_results(p, g.first, g.width, rounded);
}

// Are sums rounded, not written as states?
bool rounds(const Problem& p) { return p.result_dtype != TRINE_U64; }

template <class T, trine_map M>
class PlainStrip;

// A strip of results through bins.
template <class T, trine_map M>
class Strip {
 public:
  Strip(const SumPiece& piece, std::int64_t first, std::int64_t width, bool is_folded)
      : piece_(piece), p_(*piece.problem) {
    SumScratch& scratch = *piece.scratch;
    for (std::int64_t lane = 0; lane < width; lane += kGroup, ++count_) {
      const auto lanes = static_cast<int>(std::min<std::int64_t>(kGroup, width - lane));
      groups_[count_] = {first + lane, lanes, is_folded ? kGroup / lanes : 1};
      sinks_[count_].lane = scratch.lane + lane;
      empty_bins(scratch.window(count_).narrow);
      empty_bins(scratch.windows[count_].wide);
    }
  }

  // Few rows of many groups at a time: a row of the strip is read from end to end, and a group's
  // bins are loaded once for all of them.
  void add(std::int64_t begin, std::int64_t end) {
    const std::int64_t tile = count_ > 1 ? 16 : 256;
    for (std::int64_t row = begin; row < end; row += tile)
      for (int i = 0; i < count_; ++i)
        add_group_rows<T, M>(p_, groups_[i], row, std::min(end, row + tile), *piece_.scratch,
                             piece_.scratch->windows[i], sinks_[i]);
  }

  // All rows are in: rounds a group's bins, or brings bins, lanes and what was added plainly
  // together.
  void finish(std::int64_t part, const PlainStrip<T, M>* plain) {
    for (int i = 0; i < count_; ++i) {
      const Group& g = groups_[i];
      Windows& windows = piece_.scratch->windows[i];
      const bool both = windows.narrow.rows > 0 && windows.wide.rows > 0;
      if (!sinks_[i].used && !both && !plain && !piece_.partials && g.folds == 1 && rounds(p_)) {
        const Bins& bins = windows.wide.rows > 0 ? windows.wide : windows.narrow;
        with_float(p_.result_dtype, [&]<class R>(R) { store_group<R>(p_, g, bins); });
      } else {
        finish_lanes(g, windows, sinks_[i], part, plain);
      }
    }
  }

 private:
  void finish_lanes(const Group& g, Windows& windows, LaneSink<T, M>& sink, std::int64_t part,
                    const PlainStrip<T, M>* plain) {
    sink.flush(windows.narrow);
    sink.flush(windows.wide);
    for (int f = 1; f < g.folds; ++f)
      for (int j = 0; j < g.width; ++j) sink.lane[j].merge(sink.lane[f * g.width + j]);
    for (int j = 0; j < g.width; ++j) {
      if (plain) plain->give(g.first + j, sink.lane[j]);
      store_lane(g.first + j, part, sink.lane[j]);
    }
  }
  void store_lane(std::int64_t r, std::int64_t part, SuperAccumulator& lane) {
    if (!piece_.partials) return store_sum(p_, r, lane);
    open_part(piece_, r, part).merge(lane);
  }

  const SumPiece& piece_;
  const Problem& p_;
  int count_ = 0;
  Group groups_[kStrip / kGroup];
  LaneSink<T, M> sinks_[kStrip / kGroup];
};

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
