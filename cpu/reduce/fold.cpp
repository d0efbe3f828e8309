// Integer sums, min, max, argmin and argmax. Plain loops over neighbours: the compiler turns them
// into vectors of each instruction set, as keys are integers and integer sums have no order.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/fold.cpp"
#include "fold.hpp"
#include "arithmetic.hpp"
#include "simd.hpp"

#include "fold-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

// --- Integer sums ----------------------------------------------------------------------------

template <class T, trine_map M>
struct Total : States<std::uint64_t> {
  using States::state, States::width;
  Total(FoldScratch&, std::int64_t count) : States(count, 0) {}

  void along(const T* data, std::int64_t count, std::int64_t) {
    std::uint64_t total = 0;
    for (std::int64_t i = 0; i < count; ++i) total += widened<M>(data[i]);
    state[0] += total;
  }

  void across(const T* rows, std::int64_t step, std::int64_t count, std::int64_t) {
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < width; ++j) state[j] += widened<M>(rows[i * step + j]);
  }

  Folded partial(std::int64_t j) const { return {state[j], 0}; }
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

  // The best key of a block first, in vectors; only a block that improves is searched for its place.
  void along(const T* data, std::int64_t count, std::int64_t first) {
    constexpr std::int64_t kBlock = 2048;
    Best<K>& found = state[0];
    for (std::int64_t b = 0; b < count; b += kBlock) {
      const std::int64_t end = std::min(count, b + kBlock);
      K best = losing_key<kMax, Value>();
      for (std::int64_t i = b; i < end; ++i) {
        const K k = key(data[i]);
        best = beats<kMax>(k, best) ? k : best;
      }
      if (found.index >= 0 && !beats<kMax>(best, found.key)) continue;
      std::int64_t i = b;
      while (kIndex && key(data[i]) != best) ++i;
      found = {best, first + i};
    }
  }

  void across(const T* rows, std::int64_t step, std::int64_t count, std::int64_t first) {
    // Indices as wide as keys, so that both fit the same vectors; rows in blocks that they can count.
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
  void store(const Problem& p, std::int64_t r, std::int64_t j) const {
    if (kIndex) {
      p.result<std::int64_t>(r) = state[j].index;
    } else {
      p.result<Value>(r) = value_of<Value>(state[j].key);
    }
  }
};

// --- Pieces ----------------------------------------------------------------------------------

void fold_piece(const FoldPiece& piece, std::int64_t index) {
  with_dtype(piece.problem->dtype, [&]<class T>() {
    with_map(piece.problem->map, [&]<trine_map M>() {
      switch (piece.problem->function) {
        case TRINE_SUM:
          if constexpr (!is_float<T>) run_piece<T, Total<T, M>>(piece, index);
          return;
        case TRINE_MIN: return run_piece<T, Extreme<T, M, false, false>>(piece, index);
        case TRINE_MAX: return run_piece<T, Extreme<T, M, true, false>>(piece, index);
        case TRINE_ARGMIN: return run_piece<T, Extreme<T, M, false, true>>(piece, index);
        case TRINE_ARGMAX: return run_piece<T, Extreme<T, M, true, true>>(piece, index);
      }
    });
  });
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {
namespace {

template <class T, trine_map M, bool kMax>
void finish_extreme(const Problem& p, const Plan& plan, const Folded* partials, std::int64_t r) {
  using Value = Mapped<T, M>;
  Key<Value> best = losing_key<kMax, Value>();
  std::int64_t index = -1;
  for (std::int64_t part = 0; part < plan.parts; ++part) {
    const Folded& folded = partials[r * plan.parts + part];
    const auto key = folded.value<Key<Value>>();
    // Parts are in the order of the index: the first of equals stays.
    if (index >= 0 && !beats<kMax>(key, best)) continue;
    best = key;
    index = folded.index;
  }
  if (p.function == TRINE_ARGMIN || p.function == TRINE_ARGMAX) {
    p.result<std::int64_t>(r) = index;
  } else {
    p.result<Value>(r) = value_of<Value>(best);
  }
}

}  // namespace

HWY_EXPORT(fold_piece);

void fold_piece(const FoldPiece& piece, std::int64_t index) {
  HWY_DYNAMIC_DISPATCH(fold_piece)(piece, index);
}

void finish_fold(const Problem& p, const Plan& plan, Folded* partials, std::int64_t r) {
  if (p.function == TRINE_SUM) {
    std::uint64_t total = 0;
    for (std::int64_t i = 0; i < plan.parts; ++i) total += partials[r * plan.parts + i].bits;
    p.result<std::uint64_t>(r) = total;
    return;
  }
  with_dtype(p.dtype, [&]<class T>() {
    with_map(p.map, [&]<trine_map M>() {
      if (p.function == TRINE_MIN || p.function == TRINE_ARGMIN) {
        finish_extreme<T, M, false>(p, plan, partials, r);
      } else {
        finish_extreme<T, M, true>(p, plan, partials, r);
      }
    });
  });
}

}  // namespace trine::cpu
#endif  // HWY_ONCE
