// Integer sums, min, max, argmin and argmax; products by product-inl.hpp. Plain loops over
// neighbours: the compiler turns them into vectors of each instruction set, as keys are integers
// and integer sums have no order.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/fold.cpp"
#include "fold.hpp"
#include "arithmetic.hpp"
#include "prefetch.hpp"
#include "simd.hpp"

#include "fold-inl.hpp"
#include "product-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

// --- Integer sums ----------------------------------------------------------------------------

template <class T, trine_map M>
struct Total : States<std::uint64_t> {
  using States::state, States::width;
  Total(FoldScratch&, std::int64_t count) : States(count, 0) {}

  void along(const T* data, std::int64_t count, std::int64_t) {
    constexpr int kLanes = 256 / sizeof(T);
    std::uint64_t lane[kLanes]{};
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      prefetch(data + i, kLanes);
      for (int j = 0; j < kLanes; ++j) lane[j] += widened<M>(data[i + j]);
    }
    for (; i < count; ++i) lane[0] += widened<M>(data[i]);
    for (std::uint64_t total : lane) state[0] += total;
  }

  void across(const T* rows, std::int64_t step, std::int64_t count, std::int64_t) {
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < width; ++j) state[j] += widened<M>(rows[i * step + j]);
  }

  Folded partial(std::int64_t j) const { return {state[j], 0}; }
  void join(const Folded& part) { state[0] += part.bits; }
  void store(const Problem& p, std::int64_t r, std::int64_t j) const {
    p.result<std::uint64_t>(r) = state[j];
  }
};

// --- Extremes --------------------------------------------------------------------------------

template <class K>
struct Best {
  K key;
  std::int64_t index;
};

template <class T, trine_map M, bool kMax, bool kIndex>
struct Extreme : States<Best<Key<Mapped<T, M>>>> {
  using Value = Mapped<T, M>;
  using K = Key<Value>;
  using Extreme::States::state, Extreme::States::width;

  Extreme(FoldScratch&, std::int64_t count)
      : Extreme::States(count, {losing_key<kMax, Value>(), -1}) {}
  static HWY_INLINE K key(T x) { return key_of<kMax, Value>(mapped<M>(x)); }

  static constexpr int kLanes = 256 / sizeof(T);
  static K best_of(const T* data, std::int64_t count) {
    K lane[kLanes];
    std::fill(lane, lane + kLanes, losing_key<kMax, Value>());
    const auto take = [&](T x, K& best) {
      const K k = raw_key<kMax, Value>(mapped<M>(x));
      best = beats<kMax>(k, best) ? k : best;
    };
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      prefetch(data + i, kLanes);
      for (int j = 0; j < kLanes; ++j) take(data[i + j], lane[j]);
    }
    for (; i < count; ++i) take(data[i], lane[0]);
    K best = lane[0];
    for (int j = 1; j < kLanes; ++j) best = beats<kMax>(lane[j], best) ? lane[j] : best;
    return settled<kMax, Value>(best);
  }

  // Where the first element is that is_it(); there is one.
  template <class Is>
  static std::int64_t first_of(const T* data, std::int64_t count, Is is_it) {
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      K none = kLanes, at = none;
      for (int j = 0; j < kLanes; ++j) at = std::min(at, is_it(data[i + j]) ? K(j) : none);
      if (at != none) return i + std::int64_t(at);
    }
    while (!is_it(data[i])) ++i;
    return i;
  }

  // Where the first element with this key is. It has the bits of the key's value, or any of a NaN.
  static std::int64_t place_of(K wanted, const T* data, std::int64_t count) {
    const Value value = value_of<kMax, Value>(wanted);
    if constexpr (is_float<T>)
      if (value != value) return first_of(data, count, [](T x) { return x != x; });
    return first_of(data, count, [bits = std::bit_cast<K>(value)](T x) {
      return std::bit_cast<K>(mapped<M>(x)) == bits;
    });
  }

  // The best key of a block first, in vectors; only a block that improves is searched for its
  // place.
  void along(const T* data, std::int64_t count, std::int64_t first) {
    constexpr std::int64_t kBlock = 2048;
    Best<K>& found = state[0];
    for (std::int64_t b = 0; b < count; b += kBlock) {
      const std::int64_t end = std::min(count, b + kBlock);
      const K best = best_of(data + b, end - b);
      if (found.index >= 0 && !beats<kMax>(best, found.key)) continue;
      found = {best, first + b + (kIndex ? place_of(best, data + b, end - b) : 0)};
    }
  }

  void across(const T* rows, std::int64_t step, std::int64_t count, std::int64_t first) {
    // Indices as wide as keys, so that both fit the same vectors; rows in blocks that they can
    // count.
    using Row = std::conditional_t<sizeof(K) == 4, std::int32_t, std::int64_t>;
    constexpr std::int64_t kBlock = 1 << 20;
    K best[kStrip];
    Row at[kStrip];
    for (std::int64_t b = 0; b < count; b += kBlock) {
      const std::int64_t end = std::min(count, b + kBlock);
      for (std::int64_t j = 0; j < width; ++j) best[j] = key(rows[b * step + j]);
      std::fill(at, at + width, Row(0));
      for (std::int64_t i = b + 1; i < end; ++i) {
        const T* row = rows + i * step;
        const Row here = static_cast<Row>(i - b);
        for (std::int64_t j = 0; j < width; ++j) {
          const K k = key(row[j]);
          const bool better = beats<kMax>(k, best[j]);
          best[j] = better ? k : best[j];
          if (kIndex) at[j] = better ? here : at[j];
        }
      }
      for (std::int64_t j = 0; j < width; ++j)
        if (state[j].index < 0 || beats<kMax>(best[j], state[j].key))
          state[j] = {best[j], first + b + at[j]};
    }
  }

  Folded partial(std::int64_t j) const { return folded(state[j].key, state[j].index); }
  // The first of equals stays.
  void join(const Folded& part) {
    const K k = part.value<K>();
    if (state[0].index < 0 || beats<kMax>(k, state[0].key)) state[0] = {k, part.index};
  }
  void store(const Problem& p, std::int64_t r, std::int64_t j) const {
    if (kIndex) {
      p.result<std::int64_t>(r) = state[j].index;
    } else {
      p.result<Value>(r) = value_of<kMax, Value>(state[j].key);
    }
  }
};

// --- Work ------------------------------------------------------------------------------------

FoldWork fold_work(const Problem& p) {
  FoldWork work{};
  with_dtype(p.dtype, [&]<class T>() {
    with_map<T>(p.map, [&]<trine_map M>() {
      if (p.function == TRINE_SUM) {
        if constexpr (!is_float<T>) work = kWork<T, Total<T, M>>;
      } else if constexpr (M != TRINE_SQUARE) {
        switch (p.function) {
          case TRINE_PROD: work = kWork<T, Tree<T, M>>; return;
          case TRINE_MIN: work = kWork<T, Extreme<T, M, false, false>>; return;
          case TRINE_MAX: work = kWork<T, Extreme<T, M, true, false>>; return;
          case TRINE_ARGMIN: work = kWork<T, Extreme<T, M, false, true>>; return;
          case TRINE_ARGMAX: work = kWork<T, Extreme<T, M, true, true>>; return;
        }
      }
    });
  });
  return work;
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(fold_work);

FoldWork fold_work(const Problem& p) { return HWY_DYNAMIC_DISPATCH(fold_work)(p); }

}  // namespace trine::cpu
#endif  // HWY_ONCE
