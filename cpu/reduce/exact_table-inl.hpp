// Exact sums of elements whose exponents are spread too wide for bins. Vectors take doubles apart
// into two halves of the significand, signed and shifted to a multiple of 16 in the exponent; one
// 128-bit addition per element puts the pair into the table at its exponent.
//
//   x = +-(high * 2^27 + low) * 2^(e - 1075)        pair[e / 16] += {low, high} * 2^(e % 16)
//
// A half has at most 42 bits, so 2^20 elements go into a table before it is emptied.

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

// Elements between two emptyings; a vector may add two terms each.
constexpr std::int64_t kTableRoom = std::int64_t(1) << 19;

void open_table(PairTable& table) {
  if (table.used) return;
  std::memset(table.pair, 0, sizeof table.pair);
  table.used = true;
  table.room = kTableRoom;
}

void empty_table(PairTable& table, SuperAccumulator& total) {
  if (!table.used) return;
  for (int i = 0; i < PairTable::kPairs; ++i) {
    std::int64_t low = 0, high = 0;
    for (int t = 0; t < PairTable::kTables; ++t) {
      low += table.pair[t][i].low;
      high += table.pair[t][i].high;
    }
    const int exponent = 16 * i - PairTable::kExponentBias - 1075;
    if (low != 0) total.add(low, exponent);
    if (high != 0) total.add(high, exponent + 27);
  }
  table.used = false;
}

// Adds one finite double a lane, times 2^-kExponentBias and the lane's `bias`, a multiple of 16.
HWY_INLINE void add_to_table(PairTable& table, V x, hn::Vec<hn::RebindToSigned<D>> bias) {
  const hn::RebindToSigned<D> di;
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, x);
  const auto zero = hn::Zero(du);
  const auto biased = hn::ShiftRight<53>(hn::ShiftLeft<1>(bits));
  const auto denormal = hn::Eq(biased, zero);
  const auto hidden = hn::IfThenZeroElse(denormal, hn::Set(du, std::uint64_t(1) << 52));
  const auto magnitude =
      hn::Or(hn::And(bits, hn::Set(du, (std::uint64_t(1) << 52) - 1)), hidden);
  const auto exponent = hn::Sub(biased, hn::VecFromMask(du, denormal));  // 1 where it says 0
  const auto shift = hn::And(exponent, hn::Set(du, 15));
  const auto half = hn::Set(du, (std::uint64_t(1) << 27) - 1);
  const auto sign = hn::BroadcastSignBit(hn::BitCast(di, bits));
  const auto with_sign = [&](hn::Vec<hn::RebindToUnsigned<D>> v) HWY_ATTR {
    return hn::Sub(hn::Xor(hn::BitCast(di, hn::Shl(v, shift)), sign), sign);
  };
  HWY_ALIGN std::int64_t low[kVector], high[kVector], at[kVector];
  hn::Store(with_sign(hn::And(magnitude, half)), di, low);
  hn::Store(with_sign(hn::ShiftRight<27>(magnitude)), di, high);
  // A pair has 16 bytes and holds 16 exponents: the rounded exponent is the pair's offset.
  hn::Store(hn::Add(hn::BitCast(di, hn::Sub(exponent, shift)), bias), di, at);
  for (int i = 0; i < kVector; ++i) {
    auto* pair = reinterpret_cast<PairTable::Pair*>(
        reinterpret_cast<char*>(table.pair[i % PairTable::kTables]) + at[i]);
    pair->low += low[i];
    pair->high += high[i];
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
    V x = Element<T, M == TRINE_ABS ? TRINE_ABS : TRINE_IDENTITY>::load(p + i);
    if (!hn::AllTrue(d, hn::Lt(hn::Abs(x), infinity))) {
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
      const auto move = hn::IfThenElse(
          hn::RebindMask(di, large), hn::Set(di, 1200),
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
