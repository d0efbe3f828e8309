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

// Adds a vector of zeros and normal doubles, times 2^-kExponentBias and 2^bias, a multiple of 16.
HWY_INLINE void add_to_table(PairTable& table, V x, hn::Vec<hn::RebindToSigned<D>> bias) {
  const D d;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x);
  constexpr std::int64_t kKept = std::int64_t(0x800fffffffffffff) | std::int64_t(15) << 52;
  const V y = hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)),
                                 hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(di, kKept)),
                                                        hn::Set(di, std::int64_t(1023) << 52))));
  const V anchor = hn::Set(d, 0x1.8p34);  // units of 2^-18
  const V high = hn::Sub(hn::Add(y, anchor), anchor);
  const V low = hn::Sub(y, high);
  // A pair has 16 bytes and holds 16 exponents: the rounded exponent is the pair's offset.
  const auto offset =
      hn::And(hn::BitCast(di, hn::ShiftRight<52>(hn::BitCast(hn::RebindToUnsigned<D>(), bits))),
              hn::Set(di, 0x7f0));
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

// Elements [0, count) of one result, whatever they are.
template <class T, trine_map M>
void add_one_by_one(const T* p, std::ptrdiff_t step, std::int64_t count, SuperAccumulator& total) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto x = static_cast<double>(mapped<M>(p[i * step]));
    if constexpr (M == TRINE_SQUARE) {
      total.add_square(x);
    } else {
      total.add(x);
    }
  }
}

// The same for neighbours in memory, many of them.
template <class T, trine_map M>
void add_by_exponent(const T* p, std::int64_t count, PairTable& table, SuperAccumulator& total) {
  const D d;
  const hn::RebindToSigned<D> di;
  open_table(table);
  const auto bias = hn::Set(di, PairTable::kExponentBias);
  const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  std::int64_t i = 0;
  for (; i + kVector <= count; i += kVector) {
    if (--table.room < 0) {
      empty_table(table, total);
      open_table(table);
    }
    V x;
    if constexpr (std::is_same_v<T, float>) {
      x = hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), p + i));
    } else {
      x = hn::LoadU(d, p + i);
    }
    if constexpr (M == TRINE_ABS) x = hn::Abs(x);
    const V magnitude = hn::Abs(x);
    const auto plain = hn::Or(hn::Eq(x, hn::Zero(d)), hn::Ge(magnitude, hn::Set(d, 0x1p-1022)));
    if (!hn::AllTrue(d, hn::And(plain, hn::Lt(magnitude, infinity)))) {
      add_one_by_one<T, M>(p + i, 1, kVector, total);
      continue;
    }
    if constexpr (M == TRINE_SQUARE && std::is_same_v<T, float>) {
      add_to_table(table, hn::Mul(x, x), bias);
    } else if constexpr (M == TRINE_SQUARE) {
      // Scaled by 2^+-600 where the square would leave the range of doubles.
      const auto large = hn::Ge(hn::Abs(x), hn::Set(d, 0x1p500));
      const auto small = hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-400));
      const V one = hn::Set(d, 1.0);
      x = hn::Mul(x, hn::IfThenElse(large, hn::Set(d, 0x1p-600),
                                    hn::IfThenElse(small, hn::Set(d, 0x1p600), one)));
      const auto move =
          hn::IfThenElse(hn::RebindMask(di, large), hn::Set(di, 1200),
                         hn::IfThenElseZero(hn::RebindMask(di, small), hn::Set(di, -1200)));
      const V square = hn::Mul(x, x);
      const V rest = fused_multiply_add(d, x, x, hn::Sub(hn::Zero(d), square));
      add_to_table(table, square, hn::Add(bias, move));
      add_to_table(table, rest, hn::Add(bias, move));
    } else {
      add_to_table(table, x, bias);
    }
  }
  add_one_by_one<T, M>(p + i, 1, count - i, total);
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
