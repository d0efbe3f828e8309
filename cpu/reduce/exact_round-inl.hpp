// Rounds the bins of a group of lanes, vector by vector: what a short column's result needs, where
// a superaccumulator per result would cost more than the sum itself.
//
// Carried upwards, bins are balanced digits: each is at most half a unit of the one above. Adding
// them from the top, the first inexact sum fixes the result s and its error q; of the digits below,
// only the sign of the first one counts, and only in a tie.

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

struct Rounded {
  V sum, error, below;  // the exact value is sum + error + something with the sign of `below`
};

HWY_INLINE Rounded add_digits(const Bins& bins, int at) {
  const D d;
  V digit[Bins::kMost];
  digit[0] = hn::Zero(d);
  for (int k = 0; k < bins.count; ++k)
    digit[k] = hn::Sub(hn::Load(d, bins.value[k] + at), hn::Set(d, bins.anchor[k]));
  for (int k = bins.count - 1; k > 0; --k) {
    const V above = hn::Set(d, bins.anchor[k - 1]);
    const V carry = hn::Sub(hn::Add(digit[k], above), above);
    digit[k] = hn::Sub(digit[k], carry);
    digit[k - 1] = hn::Add(digit[k - 1], carry);
  }
  Rounded r{digit[0], hn::Zero(d), hn::Zero(d)};
  for (int k = 1; k < bins.count; ++k) {
    const auto exact = hn::Eq(r.error, hn::Zero(d));
    const auto nothing_below = hn::Eq(r.below, hn::Zero(d));
    const V sum = hn::Add(r.sum, digit[k]);
    const V error = hn::Sub(digit[k], hn::Sub(sum, r.sum));
    r.below = hn::IfThenElse(exact, r.below, hn::IfThenElse(nothing_below, digit[k], r.below));
    r.sum = hn::IfThenElse(exact, sum, r.sum);
    r.error = hn::IfThenElse(exact, error, r.error);
  }
  return r;
}

// To f64: a tie (sum and sum + 2 error are neighbours) goes where `below` points.
HWY_INLINE V to_f64(Rounded r) {
  const D d;
  const V twice = hn::Add(r.error, r.error);
  const V other = hn::Add(r.sum, twice);
  const auto tie = hn::Eq(hn::Sub(other, r.sum), twice);
  const auto same_side =
      hn::Gt(hn::Mul(hn::CopySign(hn::Set(d, 1.0), r.error), r.below), hn::Zero(d));
  return hn::IfThenElse(hn::And(tie, same_side), other, r.sum);
}

// To f32 by way of a double whose last bit remembers that something was cut off: 53 bits are more
// than 24 + 2, so the second rounding is the only one that counts.
HWY_INLINE V to_odd(Rounded r) {
  const D d;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, r.sum);
  const auto one = hn::Set(di, 1);
  const auto even = hn::Eq(hn::And(bits, one), hn::Zero(di));
  const auto inexact = hn::Ne(r.error, hn::Zero(d));
  // Away from zero where the error has the sum's sign, else towards it: one unit in the last place.
  const auto opposed = hn::BroadcastSignBit(hn::Xor(bits, hn::BitCast(di, r.error)));
  const auto moved = hn::Add(bits, hn::Or(opposed, one));
  const auto move = hn::And(even, hn::RebindMask(di, inexact));
  return hn::BitCast(d, hn::IfThenElse(move, moved, bits));
}

// The first `count` lanes as results.
template <class R>
HWY_INLINE void store_lanes(V sums, std::int64_t count, R* results) {
  // Not by DemoteTo: without vectors, Highway's gives the largest float where the sum overflows.
  HWY_ALIGN double lanes[kVector];
  hn::Store(sums, D(), lanes);
  for (int i = 0; i < kVector && i < count; ++i) results[i] = static_cast<R>(lanes[i]);
}

// The sums of kGroup lanes.
template <class R>
HWY_NOINLINE void round_bins(const Bins& bins, R* results) {
  for (int at = 0; at < kGroup; at += kVector) {
    const Rounded r = add_digits(bins, at);
    store_lanes(std::is_same_v<R, double> ? to_f64(r) : to_odd(r), kVector, results + at);
  }
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
