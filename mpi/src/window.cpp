#include "window.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace trine::mpi::detail {
namespace {

constexpr uint32_t kInfinities = TRINE_EXACT_PLUS_INFINITY | TRINE_EXACT_MINUS_INFINITY;
constexpr uint32_t kNotFinite = kInfinities | TRINE_EXACT_NAN;

}  // namespace

Window::Window(const ExactSum::State& state) : flags_(uint32_t(state[0])) {
  const uint64_t* const number = state.data() + 1;
  const uint64_t above = number[kAll - 1] >> 63 != 0 ? ~0ull : 0;
  int low = 0, high = kAll;
  while (low < kAll && number[low] == 0) ++low;
  if (low == kAll) return;
  while (high > low + 1 && number[high - 1] == above) --high;
  if (high == kAll) low = 0;  // near the largest sum of a state: states check for that
  // So many bits below the sign that the sum of all ranks, fewer than 2^31, fits into the words of
  // the largest state.
  const auto top = int64_t(number[high - 1]);
  if (high < kAll && (uint64_t(top >> 63) != above || top >> 31 != top >> 63)) ++high;
  low_ = int16_t(low), high_ = int16_t(high);
  if (is_too_wide()) return;
  for (int at = low; at < high; ++at) words_[at % kWords] = number[at];
}

Window::Window(double value) noexcept : flags_(TRINE_EXACT_ANY | TRINE_EXACT_NOT_MINUS_ZERO) {
  const bool is_negative = std::signbit(value);
  if (std::isnan(value)) flags_ |= TRINE_EXACT_NAN;
  if (std::isinf(value))
    flags_ |= is_negative ? TRINE_EXACT_MINUS_INFINITY : TRINE_EXACT_PLUS_INFINITY;
  if (value == 0 && is_negative) flags_ = TRINE_EXACT_ANY;
  if (value == 0 || !std::isfinite(value)) return;
  const auto bits = std::bit_cast<uint64_t>(value);
  const int exponent = int(bits >> 52 & 0x7FF);
  const uint64_t mantissa = (bits & ((1ull << 52) - 1)) | (exponent != 0 ? 1ull << 52 : 0);
  const int place = std::max(exponent, 1) - 1075 - TRINE_EXACT_LOWEST;
  const int shift = place % 64;
  uint64_t first = mantissa << shift, second = shift > 11 ? mantissa >> (64 - shift) : 0;
  if (is_negative) first = -first, second = ~second + (first == 0 ? 1 : 0);
  low_ = int16_t(place / 64), high_ = int16_t(low_ + 3);  // the third has the sign, and room
  words_[low_ % kWords] = first;
  words_[(low_ + 1) % kWords] = second;
  words_[(low_ + 2) % kWords] = is_negative ? ~0ull : 0;
}

uint64_t Window::sign() const noexcept {
  return low_ < high_ && words_[(high_ - 1) % kWords] >> 63 != 0 ? ~0ull : 0;
}

void Window::merge(const Window& other) noexcept {
  const auto word = [](const Window& window, uint64_t sign, int at) {
    if (at < window.low_) return uint64_t{0};
    return at < window.high_ ? window.words_[at % kWords] : sign;
  };
  const uint64_t my_sign = sign(), other_sign = other.sign();
  const int low = std::min(low_, other.low_), high = std::max(high_, other.high_);
  uint64_t carry = 0;
  for (int at = low; at < high && high - low <= kWords; ++at) {
    const uint64_t add = word(other, other_sign, at), partial = word(*this, my_sign, at) + add;
    uint64_t& result = words_[at % kWords];
    result = partial + carry;
    carry = partial < add || result < carry ? 1 : 0;
  }
  flags_ |= other.flags_, low_ = int16_t(low), high_ = int16_t(high);
}

ExactSum::State Window::state() const noexcept {
  uint32_t flags = flags_;
  if ((flags & TRINE_EXACT_NAN) != 0 || (flags & kInfinities) == kInfinities)
    flags = (flags & ~kNotFinite) | TRINE_EXACT_NAN;
  ExactSum::State state = {flags};
  if ((flags & kNotFinite) != 0 || low_ >= high_) return state;
  for (int at = low_; at < high_; ++at) state[size_t(at) + 1] = words_[at % kWords];
  std::fill(state.begin() + high_ + 1, state.end(), sign());
  return state;
}

}  // namespace trine::mpi::detail
