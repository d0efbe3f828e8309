// The value classes for products that are rounded once: each is hard for a way of computing such a
// product, whatever rows and columns meet.
#include <algorithm>
#include <iterator>

#include "make_values.hpp"
#include "values.hpp"

namespace trine::oracle {
namespace {

template <class T>
class Product {
 public:
  Product(const Fill& how, const Place& at)
      : how_(how),
        at_(at),
        right_(how.axis == TRINE_EACH_COLUMN),
        hash_(line_hash(how.seed, at.line)) {}

  T element() const {
    switch (how_.values) {
      case Values::kProductTies: return tie();
      case Values::kMirrored: return mirrored(at_.position, at_.length);
      case Values::kInverse: return right_ ? of_inverse() : of_integers();
      case Values::kGraded: return Make<T>::uniform(own_bits()) * Make<T>::power(exponent());
      case Values::kLoneHuge:
        return Make<T>::uniform(own_bits()) *
               Make<T>::power(at_.position == int64_t(hash_ >> 8) % at_.length ? kLarge : 0);
      case Values::kDrift: return drift();
      default: return brink();
    }
  }

 private:
  static constexpr bool kIsSingle = sizeof(T) == 4;
  static constexpr int kLarge = kIsSingle ? 60 : 500;

  uint64_t own_bits() const { return element_bits(how_.seed, at_, at_.position); }
  T sign() const { return (hash_ & 1) != 0 ? T(-1) : T(1); }
  int exponent() const { return int(hash_ >> 8 & 0xffffff) % (2 * kLarge + 1) - kLarge; }

  /// Two of the first elements make a product with one bit more than T has, but for its last bits,
  /// which the other elements make. A hair is as far from a tie as a sum in f64, or a pair of f64,
  /// can just tell, or much nearer.
  T tie() const {
    constexpr int kSingle[] = {-1, -6, -12, -14, -15, -30, -60};
    constexpr int kDouble[] = {-1, -13, -26, -27, -28, -200, -500};
    const T scale = Make<T>::power((hash_ >> 1 & 1) != 0 ? 0 : int(hash_ >> 2 & 31) - 16);
    if (at_.position == 0)
      return kIsSingle ? sign() * T(5 << 10) * scale : sign() * T(3 << 25) * scale;
    const uint64_t hair = hash_ >> 8 & 15;
    if (at_.position != 1 || hair >= std::size(kSingle))
      return T(small_integer(own_bits())) * scale;
    return Make<T>::power(kIsSingle ? kSingle[hair] : kDouble[hair]);
  }

  /// Position p of `length`; the one in the middle is 0 or a least denormal. On the brink the
  /// products are beyond the range, or nearly. Else one row in four is off by the last place of its
  /// first element, and one has but three elements at one end, (x, a hair, -x). For these the third
  /// element of a column is its first one, and the second a hair.
  T mirrored(int64_t p, int64_t length) const {
    using Bits = typename FloatBits<T>::Bits;
    const int64_t partner = length - 1 - p;
    if (p == partner) {
      const uint64_t r = element_bits(how_.seed, at_, p);
      return std::numeric_limits<T>::denorm_min() * T(int(r % 3) - 1);
    }
    const bool is_brink = how_.values == Values::kBrink, has_ends = !is_brink && length > 6;
    const bool is_end = has_ends && !right_ && (hash_ >> 3 & 3) == 0;
    const int64_t from_end = is_end && (hash_ >> 5 & 1) != 0 ? partner : p;
    const int64_t from_both = is_end ? from_end : std::min(p, partner);
    if (is_end && from_end > 2) return T(0);
    if (has_ends && from_both == 1 && (is_end || right_))
      return sign() * Make<T>::power(kIsSingle ? -60 : -300);
    const bool again = has_ends && from_both == 2 && (is_end || right_);
    const uint64_t r = element_bits(how_.seed, at_, again ? 0 : from_both);
    const T value = is_brink ? Make<T>::within(r, {187, 4}, {1531, 4}) : Make<T>::moderate(r);
    if (is_end) return again ? -value : value;
    if (right_ || p < partner) return value;
    const bool off = p == length - 1 && !is_brink && hash_ >> 62 == 0;
    return -(off ? std::bit_cast<T>(Bits(std::bit_cast<Bits>(value) + 1)) : value);
  }

  // --- Pascal's triangle, whose inverse has its elements with other signs ----------------------

  static constexpr int64_t kSide = 24;
  static T binomial(int64_t n, int64_t k) {
    if (k > n) return T(0);
    int64_t value = 1;
    for (int64_t i = 0; i < k; ++i) value = value * (n - i) / (i + 1);
    return T(value);
  }
  int scale() const { return int(at_.position * 7 % 41) - 20; }
  T of_integers() const {
    return binomial(at_.line % kSide, at_.position) * Make<T>::power(scale());
  }
  T of_inverse() const {
    const int64_t row = std::min(at_.position, kSide - 1), column = at_.line % kSide;
    const T value = binomial(row, column) * Make<T>::power(-scale());
    return (row + column) % 2 != 0 ? -value : value;
  }

  /// The product of the first elements is the largest finite number; that of the last ones is about
  /// half of its last place.
  T brink() const {
    constexpr int kFirst = kIsSingle ? 64 : 512, kLast = kIsSingle ? 52 : 485;
    constexpr T kUlp = std::numeric_limits<T>::epsilon();
    constexpr T kParts[] = {1, 1, 1, 1 - kUlp / 2, 1 + kUlp, -1, T(0.5), 0};
    if (at_.position == 0) return sign() * Make<T>::power(kFirst) * (right_ ? 1 : 1 - kUlp / 2);
    if (at_.position < at_.length - 1) return mirrored(at_.position - 1, at_.length - 2);
    const T last = sign() * Make<T>::power(right_ || !kIsSingle ? kLast : kLast - 1);
    return right_ ? last : last * kParts[hash_ >> 8 & 7];
  }

  /// 1, half of its last place, then steps of half of an f64's last place (of f64: of a pair's).
  /// They are lost where they are added to the first two one by one. A row has those of a chain of
  /// one of these lengths, and before them the negative of about three fourths of them.
  T drift() const {
    const int64_t lengths[] = {256, at_.length, 32, 128};
    const int64_t length = lengths[at_.line % 4];
    if (at_.position == 0) return sign();
    if (at_.position == 1) return sign() * Make<T>::power(kIsSingle ? -12 : right_ ? -27 : -26);
    const T step = sign() * Make<T>::power(kIsSingle ? (right_ ? -27 : -26) : -53);
    if (right_) return step;
    const T way = (hash_ >> 1 & 1) != 0 ? step : -step;
    if (at_.position == 2) return way * T(-(length * 3 / 16 * 4));
    return at_.position < length ? way : T(0);
  }

  const Fill& how_;
  const Place& at_;
  const bool right_;  ///< a column of the right operand
  const uint64_t hash_;
};

}  // namespace

template <class T>
T product_element(const Fill& how, const Place& at) {
  return Product<T>(how, at).element();
}
template float product_element(const Fill&, const Place&);
template double product_element(const Fill&, const Place&);

}  // namespace trine::oracle
