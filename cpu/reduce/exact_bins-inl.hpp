// Exact sums in double lanes. The bins of a lane cover a window of exponents, 40 bits each; adding
// x to 1.5 * 2^52 units rounds it to a multiple of the unit, what is left goes to the next bin, and
// the last one takes the rest as it is (after J. Demmel and H. D. Nguyen, "Parallel reproducible
// summation", 2015; here the window is wide enough that no bit is lost at all).
//
//   x  = 1011011001110101 (f64)         bin 0: 10110110       unit 2^a
//                                       bin 1:         01110101   unit 2^(a-40)
//
// At most 1024 rows of two terms below 2^39 units each stay within 2^50 units: bins never leave
// their binade, so the difference of bit patterns is their sum as an integer; the last one stays
// below 2^53 units. The largest and the smallest magnitude of a tile, taken as integers, tell
// whether it fits the window: two operations each on a vector, three a bin, one for the last bin. A
// tile that doesn't fit is noticed, its sums are dropped, and it is added again in a wider window,
// or element by element (exact_limbs-inl.hpp).

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr int kVector = static_cast<int>(hn::MaxLanes(D()));
constexpr int kGroup = 2 * kVector;  // lanes of a group: two vectors hide each other's latency
constexpr int kRowsBeforeFlush = 1024;

// How many bins still beat the accumulators: 3 operations on each, over the lanes of a vector.
constexpr int kMostBins = kVector >= 8 ? Bins::kMost : 7;

template <class T>
HWY_INLINE V as_doubles(hn::Vec<hn::Rebind<T, D>> x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return hn::PromoteTo(D(), x);
  }
}

// Where rows of neighbours lie: row r at data + r * step.
template <class T>
struct Strided {
  const T* data;
  std::ptrdiff_t step;
};

// The elements of a tile, and in a sum of products what each is multiplied by.
template <class T>
struct Tile {
  Strided<T> x, y;
  int rows;
};

// A row of a tile: vectors of elements as they are in memory. f32 fills one with a whole group.
template <class T>
struct Row {
#if HWY_TARGET == HWY_SCALAR
  using DT = hn::Rebind<T, D>;
#else
  using DT = std::conditional_t<sizeof(T) == 4, hn::CappedTag<T, kGroup>, hn::Rebind<T, D>>;
#endif
  using DU = hn::RebindToUnsigned<DT>;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(DT()));
  static constexpr int kVectors = kGroup / kLanes;
  hn::Vec<DT> part[kVectors];

  HWY_INLINE void load(const Strided<T>& lie, int row) {
    const T* p = lie.data + row * lie.step;
    // Without it, computation and memory take turns: 0.48 of the read bandwidth (f32, two cores).
    const std::ptrdiff_t ahead =
        lie.step == kGroup ? 2048 / static_cast<std::ptrdiff_t>(sizeof(T)) : 16 * lie.step;
    hwy::Prefetch(p + ahead);
    if constexpr (sizeof(T) * kGroup > 64) hwy::Prefetch(p + ahead + kVector);
    for (int i = 0; i < kVectors; ++i) part[i] = hn::LoadU(DT(), p + i * kLanes);
  }

  // Half `half` as doubles.
  template <int half>
  HWY_INLINE V doubles() const {
    const D d;
    if constexpr (sizeof(T) == 8) {
      return part[half];
    } else if constexpr (kVectors == 2) {
      return hn::PromoteTo(d, part[half]);
#if HWY_TARGET != HWY_SCALAR
    } else if constexpr (half == 0) {
      return hn::PromoteTo(d, hn::LowerHalf(part[0]));
    } else {
      return hn::PromoteTo(d, hn::UpperHalf(hn::Half<DT>(), part[0]));
#endif
    }
  }
};

// A square is the product of an element with itself.
template <trine_map M>
constexpr bool is_product = M == TRINE_SQUARE || M == TRINE_PRODUCT;

// A window is chosen by magnitudes: of the elements (of squares, too), or of products as doubles.
template <class T, trine_map M>
using Term = std::conditional_t<M == TRINE_PRODUCT, double, T>;

// The largest and the smallest non-zero magnitude of what it has seen, as twice their bits.
template <class T>
struct Extent {
  using DU = typename Row<T>::DU;
  hn::Vec<DU> largest, smallest;

  HWY_INLINE Extent()
      : largest(hn::Zero(DU())), smallest(hn::Set(DU(), static_cast<hn::TFromD<DU>>(~0ull))) {}

  HWY_INLINE void see(hn::Vec<typename Row<T>::DT> terms) {
    const auto twice = hn::ShiftLeft<1>(hn::BitCast(DU(), terms));
    largest = hn::Max(largest, twice);
    smallest = hn::Min(smallest, hn::Sub(twice, hn::Set(DU(), 1)));  // zero is the largest here
  }
  // The magnitudes of all lanes, as bits without the sign; 0 where there was nothing but zeros.
  std::pair<hn::TFromD<DU>, hn::TFromD<DU>> bits() const {
    const DU d;
    const auto most = hn::GetLane(hn::MaxOfLanes(d, largest));
    const auto nearly = hn::GetLane(hn::MinOfLanes(d, smallest));
    return {most >> 1, static_cast<hn::TFromD<DU>>(nearly + 1) >> 1};
  }
  HWY_INLINE bool within(const Bins& bins) const {
    using U = hn::TFromD<DU>;
    const DU d;
    return hn::AllTrue(d, hn::Lt(largest, hn::Set(d, static_cast<U>(bins.above)))) &&
           hn::AllFalse(d, hn::Lt(smallest, hn::Set(d, static_cast<U>(bins.below))));
  }
};

template <trine_map M>
HWY_INLINE V mapped_lanes(V x) {
  return M == TRINE_ABS ? hn::Abs(x) : x;
}

// x into bins `from` and below.
template <int K>
HWY_INLINE void add_to_bins(V (&bin)[K], V x, int from = 0) {
  for (int k = from; k < K - 1; ++k) {
    const V sum = hn::Add(bin[k], x);
    x = hn::Sub(x, hn::Sub(sum, bin[k]));
    bin[k] = sum;
  }
  bin[K - 1] = hn::Add(bin[K - 1], x);
}

// A product as an extent is to see it: one that has underflowed to zero is the smallest number,
// which no window admits. Products of floats don't.
template <class T>
HWY_INLINE V seen(V product, V x, V y) {
  if constexpr (std::is_same_v<T, float>) return product;
  const D d;
  const auto is_some = hn::And(hn::Ne(x, hn::Zero(d)), hn::Ne(y, hn::Zero(d)));
  const V smallest = hn::Set(d, std::numeric_limits<double>::denorm_min());
  return hn::Or(product, hn::IfThenElseZero(is_some, smallest));
}

// A row of a tile on its way into the bins, or before any are chosen.
template <class T, trine_map M>
struct Terms {
  Row<T> x, y;  // y: of products alone

  HWY_INLINE void load(const Tile<T>& tile, int row) {
    x.load(tile.x, row);
    if constexpr (M == TRINE_PRODUCT) y.load(tile.y, row);
  }

  HWY_INLINE void show(Extent<Term<T, M>>& extent) const {
    if constexpr (M == TRINE_PRODUCT) {
      show_half<0>(extent);
      show_half<1>(extent);
    } else {
      for (const auto& part : x.part) extent.see(part);
    }
  }

  template <int half, int K>
  HWY_INLINE void add(V (&bin)[K]) const {
    const V a = x.template doubles<half>();
    if constexpr (is_product<M>) {
      const D d;
      const V b = factor<half>();
      const V product = hn::Mul(a, b);
      add_to_bins<K>(bin, product);
      if constexpr (std::is_same_v<T, double>) {
        // Rounding cut less than 2^-53 of the product off: nothing for the first of two
        // bins.
        const V rest = fused_multiply_add(d, a, b, hn::Neg(product));
        add_to_bins<K>(bin, rest, K > 1 ? 1 : 0);
      }
    } else {
      add_to_bins<K>(bin, mapped_lanes<M>(a));
    }
  }

 private:
  template <int half>
  HWY_INLINE V factor() const {
    return M == TRINE_PRODUCT ? y.template doubles<half>() : x.template doubles<half>();
  }
  template <int half>
  HWY_INLINE void show_half(Extent<double>& extent) const {
    const V a = x.template doubles<half>(), b = factor<half>();
    extent.see(seen<T>(hn::Mul(a, b), a, b));
  }
};

// Adds a tile of kGroup lanes to K bins. False, and nothing added, if an element doesn't fit.
template <class T, trine_map M, int K>
HWY_NOINLINE bool add_rows(const Tile<T>& tile, Bins& bins) {
  const D d;
  V first[K], second[K];
  for (int k = 0; k < K; ++k) {
    first[k] = hn::Load(d, bins.value[k]);
    second[k] = hn::Load(d, bins.value[k] + kVector);
  }
  Extent<Term<T, M>> extent;
  for (int r = 0; r < tile.rows; ++r) {
    Terms<T, M> terms;
    terms.load(tile, r);
    terms.show(extent);
    terms.template add<0, K>(first);
    terms.template add<1, K>(second);
  }
  if (!extent.within(bins)) return false;
  for (int k = 0; k < K; ++k) {
    hn::Store(first[k], d, bins.value[k]);
    hn::Store(second[k], d, bins.value[k] + kVector);
  }
  bins.rows += tile.rows;
  return true;
}

// The sum that lane `lane` has added to bin `k`, which is not the last, in units.
HWY_INLINE std::int64_t units_in(const Bins& bins, int k, int lane) {
  return std::bit_cast<std::int64_t>(bins.value[k][lane]) -
         std::bit_cast<std::int64_t>(bins.anchor[k]);
}

std::span<const double> last_bin(const Bins& bins) {
  if (bins.count == 0) return {};
  return {bins.value[bins.count - 1], static_cast<std::size_t>(kGroup)};
}

template <class T, trine_map M>
bool add_rows(const Tile<T>& tile, Bins& bins) {
  static constexpr auto kByCount = []<int... K>(std::integer_sequence<int, K...>) {
    return std::array{&add_rows<T, M, K + 1>...};
  }
  (std::make_integer_sequence<int, kMostBins>());
  return kByCount[bins.count - 1](tile, bins);
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
