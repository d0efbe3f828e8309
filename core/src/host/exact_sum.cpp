// States of exact sums: read, added, rounded. Backends write them.
#include <trine/exact_sum.hpp>

#include <algorithm>
#include <bit>
#include <limits>

#include "core/src/runtime/state.hpp"

namespace trine {
namespace {

static_assert(std::endian::native == std::endian::little, "the state's byte order");

constexpr uint64_t kInfinities = TRINE_EXACT_PLUS_INFINITY | TRINE_EXACT_MINUS_INFINITY;
constexpr uint64_t kNotFinite = kInfinities | TRINE_EXACT_NAN;
constexpr uint64_t kKnown = kNotFinite | TRINE_EXACT_NOT_MINUS_ZERO | TRINE_EXACT_ANY;
constexpr size_t kWords = TRINE_EXACT_WORDS - 1;  // of the number

const uint64_t* number_of(const ExactSum::State& state) { return state.data() + 1; }

bool is_zero(const ExactSum::State& state) {
  return std::all_of(state.begin() + 1, state.end(), [](uint64_t word) { return word == 0; });
}

/// The flags that writers may leave: a NaN alone, or one infinity, without a number.
bool is_state(const ExactSum::State& state) {
  const uint64_t flags = state[0], special = flags & kNotFinite;
  if (flags == 0) return is_zero(state);
  if ((flags & ~kKnown) != 0 || (flags & TRINE_EXACT_ANY) == 0) return false;
  if ((special & (special - 1)) != 0) return false;
  const bool can_be_more = special == 0 && (flags & TRINE_EXACT_NOT_MINUS_ZERO) != 0;
  return can_be_more ||
         (is_zero(state) && (special == 0 || (flags & TRINE_EXACT_NOT_MINUS_ZERO) != 0));
}

/// The bits of |sum| in a format of `precision` bits whose smallest denormal is 2^lowest; at most
/// infinity.
uint64_t rounded(const uint64_t* magnitude, int precision, int lowest, uint64_t infinity) {
  size_t top = kWords;
  while (top > 0 && magnitude[top - 1] == 0) --top;
  if (top == 0) return 0;
  const auto bit = [&](int at) { return magnitude[at / 64] >> (at % 64) & 1; };
  const int highest = int(64 * top) - 1 - std::countl_zero(magnitude[top - 1]);
  const int least = lowest - TRINE_EXACT_LOWEST;  // the place of the last denormal's bit
  const int last = std::max(highest - (precision - 1), least);  // of the result's last bit
  // Two words hold the mantissa alone, because there are no bits above the highest one.
  const size_t word = size_t(last) / 64;
  uint64_t mantissa = magnitude[word] >> last % 64;
  if (last % 64 != 0 && word + 1 < kWords) mantissa |= magnitude[word + 1] << (64 - last % 64);
  const int half = last - 1;
  uint64_t below = magnitude[half / 64] & ((uint64_t{1} << half % 64) - 1);
  for (int w = 0; w < half / 64; ++w) below |= magnitude[w];
  if (bit(half) != 0 && (below != 0 || (mantissa & 1) != 0)) ++mantissa;
  // The hidden bit of the mantissa is added to the exponent.
  const auto exponent = uint64_t(last - least);
  if (exponent >= infinity >> (precision - 1)) return infinity;
  return std::min(infinity, (exponent << (precision - 1)) + mantissa);
}

template <class T, class Bits>
T round_state(const ExactSum::State& state) {
  using L = std::numeric_limits<T>;
  constexpr auto kInfinity = std::bit_cast<Bits>(L::infinity());
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const uint64_t flags = state[0];
  if ((flags & TRINE_EXACT_NAN) != 0) return L::quiet_NaN();
  if ((flags & kInfinities) != 0)
    return std::bit_cast<T>(
        Bits(kInfinity | ((flags & TRINE_EXACT_MINUS_INFINITY) != 0 ? kSign : 0)));
  if (flags == TRINE_EXACT_ANY) return std::bit_cast<T>(kSign);
  const uint64_t* magnitude = number_of(state);
  const bool negative = state.back() >> 63 != 0;
  uint64_t negated[kWords];
  if (negative) {  // the lowest word that isn't zero is negated, those above it are inverted
    size_t w = 0;
    while (magnitude[w] == 0) negated[w++] = 0;
    negated[w] = -magnitude[w];
    for (++w; w < kWords; ++w) negated[w] = ~magnitude[w];
    magnitude = negated;
  }
  const auto bits = Bits(rounded(magnitude, L::digits, L::min_exponent - L::digits, kInfinity));
  return std::bit_cast<T>(Bits(bits | (negative ? kSign : 0)));
}

/// Calls `write` with a state's u64 words to fill.
template <class Write>
ExactSum::State written(Write&& write) {
  ExactSum::State state{};
  write(state.data());
  return state;
}

HostView host_state(uint64_t* state) {
  return host_row_major(state, Dtype::u64, 1, ExactSum::words);
}

ExactSum::State state_on(Queue& queue, Reduce op) {
  return written([&](uint64_t* state) {
    const Buffer buffer = detail::memory_for(queue, sizeof(ExactSum::State));
    op.output = row_major(buffer, Dtype::u64, 1, ExactSum::words);
    run(queue, op);
    copy(queue, op.output, host_state(state));
    queue.wait();
  });
}

}  // namespace

ExactSum::ExactSum(const State& state) : state_(state) {
  if (is_state(state)) return;
  if (state[0] >> 32 != 0)
    detail::refuse("ExactSum: the state has version ", state[0] >> 32,
                   " of the format, this library knows 0: read it with a newer one.");
  detail::refuse("ExactSum: these ", words, " words are no state of a sum; its flags are ",
                 state[0], ": give it all words of a state(), as they were.");
}

void ExactSum::add(const ConstHostView& x, Map map, const HostOptions& options) {
  detail::refuse_event(options);
  merge(ExactSum(written([&](uint64_t* state) {
    reduce(Function::sum, map, Axis::all, x, host_state(state), options);
  })));
}
void ExactSum::add_dot(const ConstHostView& x, const ConstHostView& y, const HostOptions& options) {
  detail::refuse_event(options);
  merge(ExactSum(
      written([&](uint64_t* state) { dot(x, y, host_state(state), Axis::all, options); })));
}
void ExactSum::add(Queue& queue, const View& x, Map map) {
  merge(ExactSum(state_on(queue, {.map = map, .input = x})));
}
void ExactSum::add_dot(Queue& queue, const View& x, const View& y) {
  merge(ExactSum(state_on(queue, {.map = Map::product, .input = x, .second = y})));
}

void ExactSum::merge(const ExactSum& other) {
  uint64_t flags = state_[0] | other.state_[0];
  if ((flags & TRINE_EXACT_NAN) != 0 || (flags & kInfinities) == kInfinities)
    flags = (flags & ~kNotFinite) | TRINE_EXACT_NAN;
  State merged = {flags};
  uint64_t carry = 0;
  for (size_t w = 1; w <= kWords && (flags & kNotFinite) == 0; ++w) {
    const uint64_t add = other.state_[w], partial = state_[w] + add;
    merged[w] = partial + carry;
    carry = partial < add || merged[w] < carry ? 1 : 0;
  }
  const auto top = [](const State& state) { return state[kWords] >> 63; };
  if ((flags & kNotFinite) == 0 && top(state_) == top(other.state_) && top(merged) != top(state_))
    detail::refuse("ExactSum: merge: the sum leaves what a state holds, +-2^",
                   TRINE_EXACT_LOWEST + int(64 * kWords) - 1, "; round one of the two before.");
  state_ = merged;
}

float ExactSum::round_to_f32() const noexcept { return round_state<float, uint32_t>(state_); }
double ExactSum::round_to_f64() const noexcept { return round_state<double, uint64_t>(state_); }

}  // namespace trine
