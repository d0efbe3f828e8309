// Terms whose exponents are spread too wide for bins go into accumulators at once. Vectors find the
// limb of each term and its place there; only the addition to the limb goes lane by lane.
//
//   x = m * 2^e, m an integer of 53 bits       limb[(e - lowest) / 32] += m << (e - lowest) % 32

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

using Exponents = hn::Vec<hn::RebindToSigned<D>>;

// The biased exponents of doubles.
HWY_INLINE Exponents exponents_of(V x) {
  const auto bits = hn::BitCast(hn::RebindToUnsigned<D>(), hn::Abs(x));
  return hn::BitCast(hn::RebindToSigned<D>(), hn::ShiftRight<52>(bits));
}

// Vectors of terms on their way into limbs: the place of each, in bytes, and the halves to add
// there. Many are kept: placing one and adding it at once, in turns, takes 1.2 to 1.4 times as long
// (Intel Xeon, AVX-512, g++ 12).
struct PlacedTerms {
  static constexpr int kMost = 32;
  int count = 0;
  alignas(64) std::int64_t place[kMost][kVector], halves[kMost][2 * kVector];

  void add_to(SuperAccumulator::Limb* limbs) {
    constexpr int kEven = 0, kOdd = kVector == 1 ? 0 : kVector;
    for (int v = 0; v < count; ++v)
      for (int i = 0; i < kVector; ++i) {
        auto& limb = *reinterpret_cast<SuperAccumulator::Limb*>(reinterpret_cast<char*>(limbs) +
                                                                place[v][i]);
        const std::int64_t* half = halves[v] + (i % 2 ? kOdd : kEven) + i / 2 * 2;
        limb.low += half[0];
        limb.high += half[1];
      }
    count = 0;
  }
};

// Places x * 2^moved, finite; lane i among the limbs of the accumulator that begins lanes[i] bytes
// behind the first. The biased exponents of all but zeros are at least kLeast.
template <int kLeast>
HWY_INLINE void place(V x, Exponents moved, Exponents lanes, PlacedTerms& terms) {
  const hn::RebindToSigned<D> di;
  constexpr std::int64_t kHidden = std::int64_t(1) << 52;
  constexpr int kUnit = 1075 + SuperAccumulator::kLowest;  // from an exponent to a last bit's place
  const auto bits = hn::BitCast(di, x);
  const auto exponent = exponents_of(x);
  const auto is_normal = hn::Gt(exponent, hn::Zero(di));
  const auto magnitude = hn::Or(hn::And(bits, hn::Set(di, kHidden - 1)),
                                hn::IfThenElseZero(is_normal, hn::Set(di, kHidden)));
  const auto sign = hn::BroadcastSignBit(bits);
  const auto value = hn::Sub(hn::Xor(magnitude, sign), sign);
  const auto position =
      hn::Sub(hn::Add(hn::Max(exponent, hn::Set(di, kLeast)), moved), hn::Set(di, kUnit));
  const auto shift = hn::And(position, hn::Set(di, 31));
  using Limb = SuperAccumulator::Limb;
  const auto low = hn::And(hn::Shl(value, shift), hn::Set(di, SuperAccumulator::kLowBits));
  const auto high = hn::Shr(value, hn::Sub(hn::Set(di, Limb::kHigh), shift));
  const auto at = hn::And(hn::ShiftRight<1>(position), hn::Set(di, -16));
  std::int64_t* const halves = terms.halves[terms.count];
  hn::Store(hn::Add(at, lanes), di, terms.place[terms.count++]);
#if HWY_TARGET == HWY_SCALAR
  hn::Store(low, di, halves);
  hn::Store(high, di, halves + 1);
#else
  // Neighbours within 128 bits: lanes 0, 2, 4 … come first, then 1, 3, 5 ….
  hn::Store(hn::InterleaveLower(di, low, high), di, halves);
  hn::Store(hn::InterleaveUpper(di, low, high), di, halves + kVector);
#endif
}

// A vector of zeros and normal doubles without their exponents, which it returns.
HWY_INLINE Exponents take_exponents(V& x) {
  const D d;
  const hn::RebindToSigned<D> di;
  const Exponents exponents = exponents_of(x);
  const auto bits = hn::Sub(hn::BitCast(di, x), hn::ShiftLeft<52>(exponents));
  const auto one = hn::Set(di, std::int64_t(1023) << 52);
  x = hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)), hn::BitCast(d, hn::Add(bits, one)));
  return hn::Sub(exponents, hn::Set(di, 1023));
}

// Neighbours in memory as doubles. Are they finite and, if the exponents are to be taken, zeros or
// normal numbers?
template <class T, bool kTakesExponents>
HWY_INLINE bool load_plain(const T* p, V& x) {
  const D d;
  x = as_doubles<T>(hn::LoadU(hn::Rebind<T, D>(), p));
  const V magnitude = hn::Abs(x);
  auto is_plain = hn::Lt(magnitude, hn::Set(d, std::numeric_limits<double>::infinity()));
  if constexpr (kTakesExponents) {
    const auto is_normal = hn::Ge(magnitude, hn::Set(d, 0x1p-1022));
    is_plain = hn::And(is_plain, hn::Or(is_normal, hn::Eq(x, hn::Zero(d))));
  }
  return hn::AllTrue(d, is_plain);
}

// Adds lanes one by one, whatever they are. Lane i goes to total[i % kCount].
template <class T, trine_map M, int kCount>
HWY_NOINLINE void add_lanes(const T* x, const T* y, int lane, SuperAccumulator* total) {
  for (int i = 0; i < kVector; ++i) {
    SuperAccumulator& sum = total[(lane + i) % kCount];
    const auto term = static_cast<double>(mapped<M>(x[i]));
    if constexpr (is_product<M>) {
      sum.add_product(term, y[i]);
    } else {
      sum.add(term);
    }
  }
}

// A tile, whatever its elements are. Lane i goes to total[i % kCount]: to one, or to one each.
template <class T, trine_map M, int kCount>
HWY_NOINLINE void add_to_limbs(const Tile<T>& tile, SuperAccumulator* total) {
  static_assert(kCount == 1 || kCount == kGroup);
  using L = std::numeric_limits<T>;
  constexpr bool kTakesExponents = is_product<M> && std::is_same_v<T, double>;
  constexpr int kTimes = is_product<M> ? 2 : 1, kHighest = kTimes * L::max_exponent;
  constexpr int kLowest = kTimes * (L::min_exponent - L::digits);  // where a term isn't zero
  constexpr int kLeast = std::max(kLowest + 1023, 1);
  const D d;
  const hn::RebindToSigned<D> di;
  const auto limbs = [=](int lane, int terms) {
    const auto most = static_cast<std::uint32_t>(terms);
    return total[lane].limbs_for(kLowest - 52, kHighest, most);
  };
  for (int lane = 0; lane < kCount; ++lane) limbs(lane, 2 * kGroup / kCount * tile.rows);
  PlacedTerms terms;
  const auto add_vector = [&](const T* first, const T* second, int lane) HWY_ATTR {
    V x, y;
    bool is_plain = load_plain<T, kTakesExponents>(first, x);
    if constexpr (is_product<M>) is_plain = load_plain<T, kTakesExponents>(second, y) && is_plain;
    if (!is_plain) return add_lanes<T, M, kCount>(first, second, lane, total);
    const auto lanes =
        kCount == 1 ? hn::Zero(di) : hn::Mul(hn::Iota(di, lane), hn::Set(di, sizeof *total));
    if constexpr (kTakesExponents) {
      // The factors are between 1 and 2: their product can neither overflow nor underflow.
      const Exponents moved = hn::Add(take_exponents(x), take_exponents(y));
      const V product = hn::Mul(x, y);
      const V rest = fused_multiply_add(d, x, y, hn::Neg(product));
      for (const V term : {product, rest}) {
        // A zero has no exponent of its own: the factors' alone may lie before the limbs.
        const auto is_zero = hn::RebindMask(di, hn::Eq(term, hn::Zero(d)));
        place<kLeast>(term, hn::IfThenZeroElse(is_zero, moved), lanes, terms);
      }
    } else {
      if constexpr (is_product<M>) x = hn::Mul(x, y);
      place<kLeast>(mapped_lanes<M>(x), hn::Zero(di), lanes, terms);
    }
  };
  for (int r = 0; r < tile.rows; ++r) {
    for (int lane = 0; lane < kGroup; lane += kVector)
      add_vector(tile.x.data + r * tile.x.step + lane, tile.y.data + r * tile.y.step + lane, lane);
    if (terms.count > PlacedTerms::kMost - 4 || r + 1 == tile.rows) terms.add_to(limbs(0, 0));
  }
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
