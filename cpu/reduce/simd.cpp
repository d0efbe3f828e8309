// Rung `simd`: every thread keeps a vector of running results and lets each lane take its share, so
// that memory is the limit and not the latency of one addition. Which lane takes which element
// moves the bits of float sums and products: a study. Integers and extremes have no such order; for
// them this rung and `exact` are the same.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/simd.cpp"
#include "simd.hpp"
#include "arithmetic.hpp"
#include "fold.hpp"
#include "partial_reduction.hpp"
#include "rungs.hpp"

#include "fold-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

// Sums and products of floats in R, lane by lane.
template <class T, trine_map M, class R, bool kProduct>
struct Lanes : States<R> {
  using Lanes::States::state, Lanes::States::width;
  static constexpr int kLanes = 64;
  static constexpr R kStart = kProduct ? 1 : 0;

  Lanes(FoldScratch&, std::int64_t count) : Lanes::States(count, kStart) {}
  static HWY_INLINE R value(T x) {
    const R v = static_cast<R>(mapped<M>(x));
    return M == TRINE_SQUARE ? v * v : v;
  }
  static HWY_INLINE void fold(R& total, R v) { total = kProduct ? total * v : total + v; }

  void along(const T* data, std::int64_t count, std::int64_t) {
    R lane[kLanes];
    std::fill(lane, lane + kLanes, kStart);
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
      for (int j = 0; j < kLanes; ++j) fold(lane[j], value(data[i + j]));
    for (; i < count; ++i) fold(lane[i % kLanes], value(data[i]));
    for (int half = kLanes / 2; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) fold(lane[j], lane[j + half]);
    fold(state[0], lane[0]);
  }

  void across(const T* rows, std::int64_t step, std::int64_t count, std::int64_t) {
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < width; ++j) fold(state[j], value(rows[i * step + j]));
  }

  Folded partial(std::int64_t j) const { return folded(state[j]); }
  void join(const Folded& part) { fold(state[0], part.value<R>()); }
  void store(const Problem& p, std::int64_t r, std::int64_t j) const { p.result<R>(r) = state[j]; }
};

FoldWork lanes_work(const Problem& p) {
  FoldWork work{};
  with_map<float>(p.map, [&]<trine_map M>() {
    const auto take = [&]<class T, class R>(T, R) {
      work = kWork<T, Lanes<T, M, R, false>>;
      if constexpr (M != TRINE_SQUARE)
        if (p.function == TRINE_PROD) work = kWork<T, Lanes<T, M, R, true>>;
    };
    if (p.dtype == TRINE_F64) return take(0.0, 0.0);
    if (p.result_dtype == TRINE_F64) return take(0.0f, 0.0);
    take(0.0f, 0.0f);
  });
  return work;
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(lanes_work);

namespace {

bool in_lanes(const trine_reduce& op) {
  return (op.dtype == TRINE_F32 || op.dtype == TRINE_F64) &&
         (op.function == TRINE_SUM || op.function == TRINE_PROD);
}

}  // namespace

std::size_t simd_workspace(const trine_reduce& op, const std::int64_t* parameters, int threads) {
  if (!in_lanes(op)) return exact_workspace(op, parameters, threads);
  const Problem p = problem_of(op);
  return bytes_for(FoldWork{}, plan_of(p, threads), p.outputs, threads);
}

void reduce_simd(const trine_reduce& op, const std::int64_t* parameters, void* workspace,
                 Parallel& parallel) {
  if (!in_lanes(op)) return reduce_exact(op, parameters, workspace, parallel);
  const Problem p = problem_of(op);
  const Plan plan = plan_of(p, parallel.threads());
  partial_reduction(p, plan, workspace, parallel, HWY_DYNAMIC_DISPATCH(lanes_work)(p));
}

}  // namespace trine::cpu
#endif  // HWY_ONCE
