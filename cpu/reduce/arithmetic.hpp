// The arithmetic of the numerics, element by element, and the one place that turns a descriptor's
// dtype, function and map into template arguments.
//
// min and max compare keys: the bits of a value turned into an integer whose order is the numerics'
// order (-0 < +0; NaN beyond everything on the side that wins).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/ops.h"

namespace trine::cpu {

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T>;

// The type in which keys are compared: a signed integer of a float's size, else T itself.
template <class T>
using Key = std::conditional_t<std::is_same_v<T, float>, std::int32_t,
                               std::conditional_t<std::is_same_v<T, double>, std::int64_t, T>>;

// The type of a mapped element that min and max hand out: abs of a signed integer is unsigned.
template <class T, trine_map M>
using Mapped =
    typename std::conditional_t<M == TRINE_ABS && std::is_integral_v<T>,
                                std::make_unsigned<std::conditional_t<is_float<T>, int, T>>,
                                std::type_identity<T>>::type;

template <trine_map M, class T>
inline Mapped<T, M> mapped(T x) {
  if constexpr (M != TRINE_ABS || std::is_unsigned_v<T>) {
    return x;
  } else if constexpr (is_float<T>) {
    return std::fabs(x);
  } else {
    using U = std::make_unsigned_t<T>;
    return x < 0 ? U(0) - static_cast<U>(x) : static_cast<U>(x);
  }
}

// Integer sums and products, modulo 2^64, the map applied in 64 bits.
template <trine_map M, class T>
inline std::uint64_t widened(T x) {
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  const auto bits = static_cast<std::uint64_t>(static_cast<Wide>(x));
  if constexpr (M == TRINE_SQUARE) {
    return bits * bits;
  } else if constexpr (M == TRINE_ABS && std::is_signed_v<T>) {
    return x < 0 ? std::uint64_t(0) - bits : bits;
  } else {
    return bits;
  }
}

// The type of a product's factors.
template <class T>
using Factor = std::conditional_t<is_float<T>, T, std::uint64_t>;

template <trine_map M, class T>
inline Factor<T> factor(T x) {
  if constexpr (is_float<T>) {
    return mapped<M>(x);
  } else {
    return widened<M>(x);
  }
}

template <bool kMax, class K>
constexpr bool beats(K a, K b) {
  return kMax ? a > b : a < b;
}

// A float's bits as an integer in the order of floats, NaNs beyond both infinities; its own
// inverse.
template <class K>
constexpr K fold_sign(K bits) {
  return bits ^ static_cast<K>((bits >> (sizeof(K) * 8 - 1)) & std::numeric_limits<K>::max());
}

// By how much such integers are moved, modulo 2^32 or 2^64, so that the NaNs of the side that loses
// come round to the other one: the infinity that loses is the last number there is.
template <bool kMax, class T>
constexpr std::make_unsigned_t<Key<T>> kMove = [] {
  using U = std::make_unsigned_t<Key<T>>;
  const U nans = static_cast<U>(std::numeric_limits<Key<T>>::max()) -
                 std::bit_cast<U>(std::numeric_limits<T>::infinity());
  return kMax ? U(0) - nans : nans;
}();

// A key to which every NaN is another one.
template <bool kMax, class T>
constexpr Key<T> raw_key(T x) {
  if constexpr (is_float<T>) {
    using U = std::make_unsigned_t<Key<T>>;
    const Key<T> folded = fold_sign(std::bit_cast<Key<T>>(x));
    return static_cast<Key<T>>(static_cast<U>(folded) + kMove<kMax, T>);
  } else {
    return x;
  }
}

template <bool kMax, class T>
constexpr Key<T> settled(Key<T> key) {
  if constexpr (is_float<T>) {
    using L = std::numeric_limits<T>;
    constexpr Key<T> last = raw_key<kMax>(kMax ? L::infinity() : -L::infinity());
    constexpr Key<T> nan = raw_key<kMax>(L::quiet_NaN());
    return beats<kMax>(key, last) ? nan : key;
  } else {
    return key;
  }
}

template <bool kMax, class T>
constexpr Key<T> key_of(T x) {
  return settled<kMax, T>(raw_key<kMax>(x));
}

template <bool kMax, class T>
constexpr T value_of(Key<T> key) {
  if constexpr (is_float<T>) {
    using U = std::make_unsigned_t<Key<T>>;
    return std::bit_cast<T>(fold_sign(static_cast<Key<T>>(static_cast<U>(key) - kMove<kMax, T>)));
  } else {
    return key;
  }
}

// An empty min (the largest) or max (the smallest) starts from this key, which loses to all.
template <bool kMax, class T>
constexpr Key<T> losing_key() {
  using L = std::numeric_limits<Key<T>>;
  return kMax ? L::min() : L::max();
}

// --- From descriptors to types -----------------------------------------------------------------

template <class Body>
void with_dtype(std::uint32_t dtype, Body&& body) {
  switch (dtype) {
    case TRINE_F32: return body.template operator()<float>();
    case TRINE_F64: return body.template operator()<double>();
    case TRINE_I32: return body.template operator()<std::int32_t>();
    case TRINE_I64: return body.template operator()<std::int64_t>();
    case TRINE_U32: return body.template operator()<std::uint32_t>();
    case TRINE_U64: return body.template operator()<std::uint64_t>();
    default: return;
  }
}

// Calls body(0.0f) for f32, body(0.0) for f64.
template <class Body>
auto with_float(std::uint32_t dtype, Body&& body) {
  return dtype == TRINE_F32 ? body(0.0f) : body(0.0);
}

// The map of elements of T. An unsigned integer is its own magnitude.
template <class T, class Body>
void with_map(std::uint32_t map, Body&& body) {
  switch (map) {
    case TRINE_ABS:
      return body.template operator() < std::is_unsigned_v<T> ? TRINE_IDENTITY : TRINE_ABS > ();
    case TRINE_SQUARE: return body.template operator()<TRINE_SQUARE>();
    default: return body.template operator()<TRINE_IDENTITY>();
  }
}

}  // namespace trine::cpu
