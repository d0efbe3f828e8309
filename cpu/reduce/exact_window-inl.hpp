// A tile's way into bins: windows of exponents are chosen from the data, kept from tile to tile,
// and moved when they miss.
//
// Limbs alone, without bins, would serve every sum; but with exponents spread over 2^±20 tables by
// exponent took 2 to 6 times as long as bins (2^16 and 2^20 f32 and f64, one core of an Intel Xeon,
// AVX-512). One window for all tiles instead of two took 1.1 to 1.25 times as long for squares of
// f32, and one whose misfits went to limbs 1.1 to 1.7 times.

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

// The exponents of a tile's terms: magnitudes below 2^top, multiples of 2^low.
struct Range {
  int top = -5000, low = 5000;
  bool special = false;  // NaN or infinity
  bool empty() const { return top < low; }
};

template <class T>
constexpr int kBias = std::numeric_limits<T>::max_exponent - 1;

// A term of exponent e is a multiple of 2^(e - kSpan). The product of two floats is exact in a
// double, that of two doubles takes 106 bits, and one more where rounding it has raised its
// exponent.
template <class T, trine_map M>
constexpr int kSpan = M != TRINE_PRODUCT ? std::numeric_limits<T>::digits - 1
                      : sizeof(T) == 4   ? 47
                                         : 106;

template <class T, trine_map M>
HWY_NOINLINE Range range_of(const Tile<T>& tile) {
  using S = Term<T, M>;
  constexpr int kFraction = std::numeric_limits<S>::digits - 1;
  Extent<S> extent;
  for (int r = 0; r < tile.rows; ++r) {
    Terms<T, M> terms;
    terms.load(tile, r);
    terms.show(extent);
  }
  const auto [largest, smallest] = extent.bits();
  Range range;
  if (largest == 0) return range;
  const auto exponent = [](auto bits) {
    return std::max(1, static_cast<int>(bits >> kFraction)) - kBias<S>;
  };
  range.special = exponent(largest) > kBias<S>;
  range.top = exponent(largest) + 1;
  range.low = exponent(smallest) - kSpan<T, M>;
  if (M == TRINE_SQUARE) {
    range.top *= 2;
    range.low *= 2;
  }
  return range;
}

// The bits that `count` bins cover: 39 and 40 for all but the last, 42 there.
constexpr int coverage(int count) { return count == 1 ? 42 : 81 + 40 * (count - 2); }

void empty_bins(Bins& bins) {
  bins.rows = 0;
  for (int k = 0; k < bins.count; ++k)
    std::fill(bins.value[k], bins.value[k] + kGroup, bins.anchor[k]);
}

// The magnitudes of terms that a window admits, as Extent counts them.
template <class T, trine_map M>
void set_limits(Bins& bins, int top, int low) {
  using S = Term<T, M>;
  constexpr int kFraction = std::numeric_limits<S>::digits - 1;
  if (M == TRINE_SQUARE) {
    top = top >> 1;
    low = (low + 1) >> 1;
  }
  const int highest = std::min(top + kBias<S>, 2 * kBias<S> + 1);  // biased; infinity is out
  int lowest = low + kSpan<T, M> + kBias<S>;
  if (lowest <= 1) lowest = 0;  // denormals are multiples of what exponent 1 is a multiple of
  bins.above = static_cast<std::uint64_t>(highest) << (kFraction + 1);
  bins.below = lowest == 0 ? 0 : (static_cast<std::uint64_t>(lowest) << (kFraction + 1)) - 1;
}

// Chooses bins for what they held and `range`; false when that is too wide. The bins are empty.
template <class T, trine_map M>
bool open_window(Bins& bins, Range range) {
  constexpr int kLowest = -1074, kHighest = 1010;
  if (bins.count > 0) {
    range.top = std::max(range.top, bins.top);
    range.low = std::min(range.low, bins.unit[bins.count - 1]);
  }
  const int need = range.top - range.low;
  int count = 1;
  while (count <= kMostBins && coverage(count) < need) ++count;
  if (count > kMostBins || range.low < kLowest) return false;
  // A quarter of what is left over goes to the upper end: small elements are what comes unexpected.
  const int top = std::max(range.top + (coverage(count) - need) / 4, kLowest + coverage(count));
  if (top > kHighest) return false;
  bins.count = count;
  bins.top = top;
  for (int k = 0; k < count - 1; ++k) {
    bins.unit[k] = top - 39 - 40 * k;
    bins.anchor[k] = std::ldexp(1.5, 52 + bins.unit[k]);
  }
  bins.unit[count - 1] = top - coverage(count);
  bins.anchor[count - 1] = 0;
  set_limits<T, M>(bins, top, bins.unit[count - 1]);
  empty_bins(bins);
  return true;
}

template <class Sink>
void flush(Bins& bins, Sink& sink) {
  if (bins.rows > 0) sink.flush(bins);
  empty_bins(bins);
}

template <class T, trine_map M, class Sink>
bool add_if_it_fits(const Tile<T>& tile, Bins& bins, Sink& sink) {
  if (bins.rows + tile.rows > kRowsBeforeFlush) flush(bins, sink);
  return add_rows<T, M>(tile, bins);
}

// Adds a tile. The sink takes what bins can't hold: sink.flush(bins) their contents,
// sink.slow(tile) a whole tile. The narrow window moves only when three tiles in a row miss it; the
// wide one grows at once; after a miss there too, the next tiles go to the accumulators unseen.
template <class T, trine_map M, class Sink>
void add_tile(const Tile<T>& tile, Windows& windows, Sink& sink) {
  Bins& narrow = windows.narrow;
  Bins& wide = windows.wide;
  if (wide.skip > 0) {
    --wide.skip;
    return sink.slow(tile);
  }
  if (narrow.count > 0 && narrow.misses <= 3) {
    if (add_if_it_fits<T, M>(tile, narrow, sink)) {
      narrow.misses = 0;
      return;
    }
    ++narrow.misses;
  }
  const bool moves = narrow.count == 0 || narrow.misses == 3;
  if (!moves && wide.count > 0 && add_if_it_fits<T, M>(tile, wide, sink)) {
    wide.misses = 0;
    return;
  }
  const Range range = range_of<T, M>(tile);
  if (range.empty()) return;
  if (!range.special) {
    Bins& target = moves ? narrow : wide;
    flush(target, sink);
    if (open_window<T, M>(target, range) && add_rows<T, M>(tile, target)) {
      target.misses = 0;
      return;
    }
  }
  wide.misses = std::min(2 * wide.misses + 1, 15);
  wide.skip = wide.misses;
  sink.slow(tile);
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
