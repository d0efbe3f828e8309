// Exact sums of elements whose exponents are spread too wide for bins. An element's exponent is split
// into a multiple of 16, which chooses a pair of doubles, and the rest, which stays with it; the
// number is cut into two halves, and one addition per element adds both to the pair.
//
//   x = y * 2^(16 g - 1023), 1 <= |y| < 2^16        pair[g] += {y rounded to 2^-18, what is left}
//
// Both halves are integers of at most 34 bits in their units, so 2^19 of them add up exactly.

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

// Vectors between two emptyings: each adds to a table at most its lanes / kTables, two terms each.
constexpr std::int64_t kTableRoom = std::int64_t(1) << 17;

void open_table(PairTable& table) {
  if (table.used) return;
  std::memset(table.pair, 0, sizeof table.pair);
  table.used = true;
  table.room = kTableRoom;
}

void empty_table(PairTable& table, SuperAccumulator& total) {
  if (!table.used) return;
  for (int i = 0; i < PairTable::kPairs; ++i) {
    double high = 0, low = 0;
    for (int t = 0; t < PairTable::kTables; ++t) {
      high += table.pair[t][i].high;
      low += table.pair[t][i].low;
    }
    const int exponent = 16 * i - PairTable::kExponentBias - 1023;
    if (high != 0) total.add(high, exponent);
    if (low != 0) total.add(low, exponent);
  }
  table.used = false;
}

// A vector of zeros and normal doubles as y * 2^(e - base), |y| from 2^(base - 1023) to below 2^16 times
// that, or 0; e is a multiple of 16. Returns e.
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> split(V x, std::int64_t base, V& y) {
  const D d;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x);
  constexpr std::int64_t kKept = std::int64_t(0x800fffffffffffff) | std::int64_t(15) << 52;
  const auto moved = hn::Add(hn::And(bits, hn::Set(di, kKept)), hn::Set(di, base << 52));
  y = hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)), hn::BitCast(d, moved));
  return hn::And(hn::BitCast(di, hn::ShiftRight<52>(hn::BitCast(hn::RebindToUnsigned<D>(), bits))),
                 hn::Set(di, 0x7f0));
}

// Adds a vector of zeros and normal doubles, times 2^-kExponentBias and 2^bias, a multiple of 16.
HWY_INLINE void add_to_table(PairTable& table, V x, hn::Vec<hn::RebindToSigned<D>> bias) {
  const D d;
  const hn::RebindToSigned<D> di;
  V y;
  // A pair has 16 bytes and holds 16 exponents: the rounded exponent is the pair's offset.
  const auto offset = split(x, 1023, y);
  const V anchor = hn::Set(d, 0x1.8p34);  // units of 2^-18
  const V high = hn::Sub(hn::Add(y, anchor), anchor);
  const V low = hn::Sub(y, high);
  HWY_ALIGN double halves[2 * kVector];
  HWY_ALIGN std::int64_t at[kVector];
#if HWY_TARGET == HWY_SCALAR
  hn::StoreU(high, d, halves);
  hn::StoreU(low, d, halves + 1);
  constexpr int kEven = 0, kOdd = 0;
#else
  // Neighbours within 128 bits: lanes 0, 2, 4 … come first, then 1, 3, 5 ….
  hn::Store(hn::InterleaveLower(d, high, low), d, halves);
  hn::Store(hn::InterleaveUpper(d, high, low), d, halves + kVector);
  constexpr int kEven = 0, kOdd = kVector;
#endif
  hn::Store(hn::Add(offset, bias), di, at);
  for (int i = 0; i < kVector; ++i) {
    auto* pair = reinterpret_cast<double*>(
        reinterpret_cast<char*>(table.pair[i % PairTable::kTables]) + at[i]);
    const double* half = halves + (i % 2 ? kOdd : kEven) + i / 2 * 2;
    pair[0] += half[0];
    pair[1] += half[1];
  }
}

// Lane `lane` of `rows` rows of a tile, whatever they are.
template <class T, trine_map M>
void add_one_by_one(const Tile<T>& tile, int lane, SuperAccumulator& total) {
  for (int r = 0; r < tile.rows; ++r) {
    const auto x = static_cast<double>(mapped<M>(tile.x.at(r, lane)));
    if constexpr (is_product<M>) {
      total.add_product(x, tile.y.at(r, lane));
    } else {
      total.add(x);
    }
  }
}

// Neighbours in memory as doubles. Are they zeros and normal numbers?
template <class T>
HWY_INLINE bool load_plain(const T* p, V& x) {
  const D d;
  if constexpr (std::is_same_v<T, float>) {
    x = hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), p));
  } else {
    x = hn::LoadU(d, p);
  }
  const V magnitude = hn::Abs(x);
  const auto plain = hn::Or(hn::Eq(x, hn::Zero(d)), hn::Ge(magnitude, hn::Set(d, 0x1p-1022)));
  const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  return hn::AllTrue(d, hn::And(plain, hn::Lt(magnitude, infinity)));
}

// A tile of one result's elements, all neighbours in memory, many of them.
template <class T, trine_map M>
void add_by_exponent(const Tile<T>& tile, PairTable& table, SuperAccumulator& total) {
  const hn::RebindToSigned<D> di;
  open_table(table);
  const auto bias = hn::Set(di, PairTable::kExponentBias);
  for (std::int64_t i = 0; i < std::int64_t(tile.rows) * kGroup; i += kVector) {
    if (--table.room < 0) {
      empty_table(table, total);
      open_table(table);
    }
    V x, y;
    bool plain = load_plain(tile.x.data + i, x);
    if constexpr (is_product<M>) plain = load_plain(tile.y.data + i, y) && plain;
    if (!plain) {
      add_one_by_one<T, M>({{tile.x.data + i, 1, 0}, {tile.y.data + i, 1, 0}, kVector}, 0, total);
    } else if constexpr (is_product<M> && std::is_same_v<T, double>) {
      // By factors from 2 to 2^17, whose product can neither overflow nor underflow.
      const auto exponents = hn::Add(split(x, 1024, x), split(y, 1024, y));
      const auto moved = hn::Add(bias, hn::Sub(exponents, hn::Set(di, 2 * 1024)));
      const V product = hn::Mul(x, y);
      const D d;
      const V rest = fused_multiply_add(d, x, y, hn::Neg(product));
      // A zero has no exponent of its own: the factors' alone may lie before the table.
      const auto place = [&](V term) {
        return hn::IfThenZeroElse(hn::RebindMask(di, hn::Eq(term, hn::Zero(d))), moved);
      };
      add_to_table(table, product, place(product));
      add_to_table(table, rest, place(rest));
    } else {
      if constexpr (is_product<M>) x = hn::Mul(x, y);
      add_to_table(table, mapped_lanes<M>(x), bias);
    }
  }
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
