// Exact sums in double lanes. The bins of a lane lie 40 bits apart and cover a window of exponents;
// adding x to 1.5 * 2^52 units rounds it to a multiple of the unit, what is left goes to the next
// bin, and nothing may be left at the end (J. Demmel and H. D. Nguyen, "Parallel reproducible
// summation", 2015, is the idea; here the window is chosen so that no bit is lost at all).
//
//   x  = 1011011001110101 (f64)         bin 0: 10110110       unit 2^a
//                                       bin 1:         01110101   unit 2^(a-40)
//
// At most 1024 rows of two terms below 2^39 units each stay within 2^50 units: bins never leave
// their binade, so the difference of bit patterns is the sum as an integer.
// Per vector of doubles: one compare for the window's upper end, one OR for its lower end, three
// operations a bin. A tile outside of the window is noticed, its sums are dropped, and it is added
// again in a wider window, or exponent by exponent (exact_table-inl.hpp).

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr int kVector = static_cast<int>(hn::MaxLanes(D()));
constexpr int kGroup = 2 * kVector;  // lanes of a group: two vectors hide each other's latency
constexpr int kRowsBeforeFlush = 1024;

// How many bins still beat the tables: 3 operations on each, over the lanes of a vector.
constexpr int kMostBins = kVector >= 8 ? Bins::kMost : 7;

// An element's exact value as one or two doubles.
template <class T, trine_map M>
struct Element {
  static constexpr bool kTwoTerms = M == TRINE_SQUARE && std::is_same_v<T, double>;

  HWY_INLINE static V load(const T* p) {
    const D d;
    V x;
    if constexpr (std::is_same_v<T, float>) {
      x = hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), p));
    } else {
      x = hn::LoadU(d, p);
    }
    if constexpr (M == TRINE_ABS) x = hn::Abs(x);
    if constexpr (M == TRINE_SQUARE && !kTwoTerms) x = hn::Mul(x, x);
    return x;
  }
};

// Adds `rows` rows of kGroup lanes to K bins. False, and nothing added, if one didn't fit.
template <class T, trine_map M, int K>
HWY_NOINLINE bool add_rows(const T* HWY_RESTRICT p, std::ptrdiff_t step, int rows, Bins& bins) {
  const D d;
  V first[K], second[K];
  for (int k = 0; k < K; ++k) {
    first[k] = hn::Load(d, bins.value[k]);
    second[k] = hn::Load(d, bins.value[k] + kVector);
  }
  V largest = hn::Zero(d), lost = hn::Zero(d);
  const auto add = [&](V(&bin)[K], V x) HWY_ATTR {
    for (int k = 0; k < K; ++k) {
      const V sum = hn::Add(bin[k], x);
      x = hn::Sub(x, hn::Sub(sum, bin[k]));
      bin[k] = sum;
    }
    lost = hn::Or(lost, x);
  };
  for (int r = 0; r < rows; ++r, p += step) {
    V x = Element<T, M>::load(p);
    V y = Element<T, M>::load(p + kVector);
    if constexpr (Element<T, M>::kTwoTerms) {
      // Below 2^-485 the low half of a square would lose bits to underflow.
      const V safe = hn::Set(d, 0x1p-485);
      const V zero = hn::Zero(d);
      const auto tiny = [&](V v) HWY_ATTR {
        return hn::IfThenElseZero(hn::Lt(hn::Abs(v), safe), v);
      };
      lost = hn::Or(lost, hn::Or(tiny(x), tiny(y)));
      const V xx = hn::Mul(x, x), yy = hn::Mul(y, y);
      const V x_low = fused_multiply_add(d, x, x, hn::Sub(zero, xx));
      const V y_low = fused_multiply_add(d, y, y, hn::Sub(zero, yy));
      largest = hn::Max(largest, hn::Max(xx, yy));
      add(first, xx);
      add(second, yy);
      add(first, x_low);
      add(second, y_low);
    } else {
      largest = hn::Max(largest, hn::Max(hn::Abs(x), hn::Abs(y)));
      add(first, x);
      add(second, y);
    }
  }
  // NaN and infinity leave NaN behind, which equals nothing.
  if (!hn::AllTrue(d, hn::And(hn::Eq(lost, hn::Zero(d)), hn::Lt(largest, hn::Set(d, bins.limit)))))
    return false;
  for (int k = 0; k < K; ++k) {
    hn::Store(first[k], d, bins.value[k]);
    hn::Store(second[k], d, bins.value[k] + kVector);
  }
  bins.rows += rows;
  return true;
}

template <class T, trine_map M>
bool add_rows(const T* p, std::ptrdiff_t step, int rows, Bins& bins) {
  switch (bins.count) {
    case 1: return add_rows<T, M, 1>(p, step, rows, bins);
    case 2: return add_rows<T, M, 2>(p, step, rows, bins);
    case 3: return add_rows<T, M, 3>(p, step, rows, bins);
    case 4: return add_rows<T, M, 4>(p, step, rows, bins);
    case 5: return add_rows<T, M, 5>(p, step, rows, bins);
    case 6: return add_rows<T, M, 6>(p, step, rows, bins);
    case 7: return add_rows<T, M, 7>(p, step, rows, bins);
#if HWY_TARGET <= HWY_AVX3  // kMostBins is 7 elsewhere
    case 8: return add_rows<T, M, 8>(p, step, rows, bins);
    case 9: return add_rows<T, M, 9>(p, step, rows, bins);
    case 10: return add_rows<T, M, 10>(p, step, rows, bins);
#endif
    default: return false;
  }
}

// The exponents of a tile's mapped elements: magnitudes below 2^top, multiples of 2^low.
struct Range {
  int top = -5000, low = 5000;
  bool special = false;  // NaN or infinity
  bool empty() const { return top < low; }
};

template <class T, trine_map M>
Range range_of(const T* p, std::ptrdiff_t step, int rows) {
  using B = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr int kBias = std::numeric_limits<T>::max_exponent - 1;
  constexpr B kMagnitude = std::numeric_limits<B>::max();
  B largest = 0;
  B smallest = kMagnitude;
  for (int r = 0; r < rows; ++r, p += step) {
    for (int i = 0; i < kGroup; ++i) {
      const B bits = std::bit_cast<B>(p[i]) & kMagnitude;
      largest = std::max(largest, bits);
      smallest = std::min(smallest, bits == 0 ? kMagnitude : bits);
    }
  }
  Range range;
  if (largest == 0) return range;
  const auto exponent = [](B bits) {
    return std::max(1, static_cast<int>(bits >> (kDigits - 1))) - kBias;
  };
  range.special = exponent(largest) > kBias;
  range.top = exponent(largest) + 1;
  range.low = exponent(smallest) - (kDigits - 1);
  if (M == TRINE_SQUARE) {
    range.top *= 2;
    range.low *= 2;
  }
  return range;
}

void empty_bins(Bins& bins) {
  bins.rows = 0;
  for (int k = 0; k < bins.count; ++k)
    std::fill(bins.value[k], bins.value[k] + kGroup, bins.anchor[k]);
}

// Chooses bins for what they held and `range`; false when that is too wide. The bins are empty.
bool open_window(Bins& bins, Range range) {
  constexpr int kWidth = 40, kLowest = -1074, kHighest = 1010;
  if (bins.count > 0) {
    range.top = std::max(range.top, bins.unit[0] + kWidth - 1);
    range.low = std::min(range.low, bins.unit[bins.count - 1]);
  }
  const int need = range.top - range.low;
  const int count = need < kWidth ? 1 : (need + kWidth) / kWidth;
  if (count > kMostBins || range.low < kLowest) return false;
  const int slack = kWidth * count - 1 - need;
  int top = range.top + slack / 4;
  top = std::max(top, kLowest + kWidth * count - 1);
  if (top > kHighest) return false;
  bins.count = count;
  bins.limit = std::ldexp(1.0, top);
  for (int k = 0; k < count; ++k) {
    bins.unit[k] = top - (kWidth - 1) - kWidth * k;
    bins.anchor[k] = std::ldexp(1.5, 52 + bins.unit[k]);
  }
  empty_bins(bins);
  return true;
}

// What lane `lane` added to bin `k`, in units.
HWY_INLINE std::int64_t units_in(const Bins& bins, int k, int lane) {
  return std::bit_cast<std::int64_t>(bins.value[k][lane]) -
         std::bit_cast<std::int64_t>(bins.anchor[k]);
}

// Adds a tile of kGroup lanes. The sink takes what bins can't hold: sink.flush(bins) their contents,
// sink.slow(p, step, rows, special) a tile.
template <class T, trine_map M, class Sink>
void add_tile(const T* p, std::ptrdiff_t step, int rows, Bins& bins, Sink& sink) {
  if (bins.skip > 0) {
    --bins.skip;
    sink.slow(p, step, rows);
    return;
  }
  if (bins.count > 0) {
    if (bins.rows + rows > kRowsBeforeFlush) {
      sink.flush(bins);
      empty_bins(bins);
    }
    if (add_rows<T, M>(p, step, rows, bins)) {
      bins.distrust = 0;
      return;
    }
  }
  const Range range = range_of<T, M>(p, step, rows);
  if (range.empty()) return;
  if (!range.special) {
    if (bins.rows > 0) {
      sink.flush(bins);
      empty_bins(bins);
    }
    if (open_window(bins, range) && add_rows<T, M>(p, step, rows, bins)) return;
  }
  bins.distrust = std::min(2 * bins.distrust + 1, 15);
  bins.skip = bins.distrust;
  sink.slow(p, step, rows);
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
