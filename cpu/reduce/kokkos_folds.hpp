// The functions as `sequential` and the rungs in plain Kokkos have them: `take` puts an element
// into a value, the Reducer, which is Kokkos's, begins a value and joins two, and `store` makes a
// value a result.
#pragma once

#include "arithmetic.hpp"
#include "kokkos.hpp"
#include "problem.hpp"

namespace trine::cpu {

// Floats in R, integers modulo 2^64.
template <class T, trine_map M, class R>
struct SumFold {
  using Element = T;
  using Reducer = Kokkos::Sum<R, Kokkos::HostSpace>;
  using Value = R;
  KOKKOS_INLINE_FUNCTION static void take(T x, std::int64_t, R& value) {
    if constexpr (is_float<T>) {
      const R term = static_cast<R>(mapped<M>(x));
      value += M == TRINE_SQUARE ? term * term : term;
    } else {
      value += widened<M>(x);
    }
  }
  static void store(const Problem& p, std::int64_t r, R value) { p.result<R>(r) = value; }
};

template <class T, trine_map M>
struct ProductFold {
  using Element = T;
  using Value = Factor<T>;
  using Reducer = Kokkos::Prod<Value, Kokkos::HostSpace>;
  KOKKOS_INLINE_FUNCTION static void take(T x, std::int64_t, Value& value) {
    value *= factor<M>(x);
  }
  static void store(const Problem& p, std::int64_t r, Value value) { p.result<Value>(r) = value; }
};

// It folds keys, because Kokkos's Min and Max compare floats by <: a NaN would be lost, and -0 be
// +0.
template <class T, trine_map M, bool kMax>
struct ExtremeFold {
  using Element = T;
  using V = Mapped<T, M>;
  using Value = Key<V>;
  using Reducer = std::conditional_t<kMax, Kokkos::Max<Value, Kokkos::HostSpace>,
                                     Kokkos::Min<Value, Kokkos::HostSpace>>;
  KOKKOS_INLINE_FUNCTION static void take(T x, std::int64_t, Value& value) {
    const Value key = key_of<kMax, V>(mapped<M>(x));
    if (beats<kMax>(key, value)) value = key;
  }
  static void store(const Problem& p, std::int64_t r, Value value) {
    p.result<V>(r) = value_of<kMax, V>(value);
  }
};

// MinLoc or MaxLoc, but the first of equal ones wins, not the one that is joined first.
template <bool kMax, class K>
struct FirstLoc : std::conditional_t<kMax, Kokkos::MaxLoc<K, std::int64_t, Kokkos::HostSpace>,
                                     Kokkos::MinLoc<K, std::int64_t, Kokkos::HostSpace>> {
  using Base = std::conditional_t<kMax, Kokkos::MaxLoc<K, std::int64_t, Kokkos::HostSpace>,
                                  Kokkos::MinLoc<K, std::int64_t, Kokkos::HostSpace>>;
  using reducer = FirstLoc;
  using Base::Base;
  using typename Base::value_type;

  KOKKOS_INLINE_FUNCTION void join(value_type& to, const value_type& from) const {
    if (is_better(from, to)) to = from;
  }
  // Kokkos before 4 asks for this one, too.
  KOKKOS_INLINE_FUNCTION void join(volatile value_type& to, const volatile value_type& from) const {
    if (is_better(from, to)) to = from;
  }

 private:
  template <class V>
  KOKKOS_INLINE_FUNCTION static bool is_better(const V& a, const V& b) {
    return beats<kMax, K>(a.val, b.val) || (a.val == b.val && a.loc < b.loc);
  }
};

template <class T, trine_map M, bool kMax>
struct PlaceFold {
  using Element = T;
  using V = Mapped<T, M>;
  using Reducer = FirstLoc<kMax, Key<V>>;
  using Value = typename Reducer::value_type;
  // Elements come in ascending order within a thread.
  KOKKOS_INLINE_FUNCTION static void take(T x, std::int64_t index, Value& value) {
    const Key<V> key = key_of<kMax, V>(mapped<M>(x));
    if (!beats<kMax>(key, value.val) && (key != value.val || index >= value.loc)) return;
    value.val = key;
    value.loc = index;
  }
  static void store(const Problem& p, std::int64_t r, Value value) {
    p.result<std::int64_t>(r) = value.loc;
  }
};

// body.operator()<Fold>(): that of the problem's function, map and dtypes.
template <class Body>
void with_fold(const Problem& p, Body&& body) {
  with_dtype(p.dtype, [&]<class T>() {
    with_map<T>(p.map, [&]<trine_map M>() {
      if (p.function == TRINE_SUM) {
        if constexpr (!is_float<T>) {
          body.template operator()<SumFold<T, M, std::uint64_t>>();
        } else {
          with_float(p.result_dtype, [&]<class R>(R) {
            if constexpr (sizeof(R) >= sizeof(T)) body.template operator()<SumFold<T, M, R>>();
          });
        }
      } else if constexpr (M != TRINE_SQUARE) {
        switch (p.function) {
          case TRINE_PROD: return body.template operator()<ProductFold<T, M>>();
          case TRINE_MIN: return body.template operator()<ExtremeFold<T, M, false>>();
          case TRINE_MAX: return body.template operator()<ExtremeFold<T, M, true>>();
          case TRINE_ARGMIN: return body.template operator()<PlaceFold<T, M, false>>();
          case TRINE_ARGMAX: return body.template operator()<PlaceFold<T, M, true>>();
        }
      }
    });
  });
}

}  // namespace trine::cpu
