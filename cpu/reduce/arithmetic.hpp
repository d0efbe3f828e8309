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

// What a product is made of.
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

// Bits <-> key of a float; its own inverse.
template <class K>
inline K fold_sign(K bits) {
  return bits ^ static_cast<K>((bits >> (sizeof(K) * 8 - 1)) & std::numeric_limits<K>::max());
}

template <bool kMax, class T>
inline Key<T> key_of(T x) {
  if constexpr (is_float<T>) {
    using K = Key<T>;
    constexpr K win = kMax ? std::numeric_limits<K>::max() : std::numeric_limits<K>::min();
    constexpr K magnitude = std::numeric_limits<K>::max();
    constexpr K infinity = std::bit_cast<K>(std::numeric_limits<T>::infinity());
    const K bits = std::bit_cast<K>(x);
    // Arithmetic instead of a choice, which g++ 12 would not turn into vectors.
    const K is_nan = static_cast<K>((infinity - (bits & magnitude)) >> (sizeof(K) * 8 - 1));
    const K key = fold_sign(bits);
    return key ^ ((key ^ win) & is_nan);
  } else {
    return x;
  }
}

template <class T>
inline T value_of(Key<T> key) {
  if constexpr (is_float<T>) {
    return std::bit_cast<T>(fold_sign(key));
  } else {
    return key;
  }
}

// What an empty min (the largest) or max (the smallest) starts from, as a key that loses to all.
template <bool kMax, class T>
constexpr Key<T> losing_key() {
  using L = std::numeric_limits<T>;
  if constexpr (is_float<T>) {
    const auto infinity = std::bit_cast<Key<T>>(L::infinity());
    return kMax ? ~infinity : infinity;  // the keys of -Inf and +Inf
  } else {
    return kMax ? L::min() : L::max();
  }
}

template <bool kMax, class K>
inline bool beats(K a, K b) {
  return kMax ? a > b : a < b;
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

// Of f32 and f64: body(0.0f) or body(0.0).
template <class Body>
auto with_float(std::uint32_t dtype, Body&& body) {
  return dtype == TRINE_F32 ? body(0.0f) : body(0.0);
}

template <class Body>
void with_map(std::uint32_t map, Body&& body) {
  switch (map) {
    case TRINE_ABS: return body.template operator()<TRINE_ABS>();
    case TRINE_SQUARE: return body.template operator()<TRINE_SQUARE>();
    default: return body.template operator()<TRINE_IDENTITY>();
  }
}

}  // namespace trine::cpu
