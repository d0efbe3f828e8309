// The pieces of an exact sum, compiled once per instruction set: along one result's elements, or
// across a strip of results.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/exact_sum.cpp"
#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "arithmetic.hpp"
#include "exact_sum.hpp"
#include "hwy/cache_control.h"
#include "inexact.hpp"
#include "prefetch.hpp"
#include "simd.hpp"

#include "exact_bins-inl.hpp"
#include "exact_limbs-inl.hpp"
#include "exact_round-inl.hpp"
#include "exact_window-inl.hpp"

#include "exact_plain-inl.hpp"

#include "exact_along-inl.hpp"
#include "exact_strip-inl.hpp"

#include "exact_results-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

template <class T, trine_map M>
void sum_strip(const SumPiece& piece, std::int64_t first, std::int64_t width, std::int64_t part,
               std::int64_t begin, std::int64_t end) {
  if constexpr (kIsPlain<T, M>)
    if (lies_plainly(*piece.problem, Beside::results))
      return PlainStrip<T, M>(piece, first, width, end - begin).sum(part, begin, end);
  Strip<T, M> strip(piece, first, width, end - begin >= 64);
  strip.add(begin, end);
  strip.finish(part, nullptr);
}

template <class T, trine_map M>
void sum_piece(const SumPiece& piece, std::int64_t index) {
  const Problem& p = *piece.problem;
  SumScratch& scratch = *piece.scratch;
  const auto along = [&](std::int64_t r, std::int64_t part, std::int64_t begin, std::int64_t end) {
    SuperAccumulator& total = piece.partials ? open_part(piece, r, part) : scratch.total;
    if (!piece.partials) total.clear();
    sum_along<T, M>(p, r, begin, end, scratch, total);
    if (!piece.partials) store_sum(p, r, total);
  };
  const auto across = [&](auto... strip) { sum_strip<T, M>(piece, strip...); };
  const auto sum = [&](const SumPiece::Block& block) { piece.each_part(block, along, across); };
  const SumPiece::Block block = piece.block(index);
  if constexpr (kIsPlain<T, M>)
    if (sum_block_plainly<T, M>(piece, block, sum)) return;
  sum(block);
}

// Brings the parts of result `r` together.
void finish_sum(const SumPiece& piece, std::int64_t r) {
  if (join_plainly(piece, r)) return;
  SuperAccumulator& total = piece.scratch->total;
  total.clear();
  for (std::int64_t i = 0; i < piece.plan->parts; ++i) {
    const SumPart& part = piece.partial(r, i);
    if (part.is_plain) {
      total.add(part.high);
      total.add(part.low);
    } else {
      total.merge(piece.behind(r, i));
    }
  }
  store_sum(*piece.problem, r, total);
}

SumWork sum_work(const Problem& p) {
  return with_float(p.dtype, [&]<class T>(T) -> SumWork {
    switch (p.map) {
      case TRINE_ABS: return {sum_piece<T, TRINE_ABS>, finish_sum};
      case TRINE_SQUARE: return {sum_piece<T, TRINE_SQUARE>, finish_sum};
      case TRINE_PRODUCT: return {sum_piece<T, TRINE_PRODUCT>, finish_sum};
      default: return {sum_piece<T, TRINE_IDENTITY>, finish_sum};
    }
  });
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(sum_work);

SumWork sum_work(const Problem& p) { return HWY_DYNAMIC_DISPATCH(sum_work)(p); }

bool all_negative_zero(const Problem& p, std::int64_t r) {
  if (p.map == TRINE_ABS || p.map == TRINE_SQUARE || p.length() == 0) return false;
  return with_float(p.dtype, [&]<class T>(T) {
    for (std::int64_t i = 0; i < p.length(); ++i) {
      const T x = p.at<T>(r, i), y = p.map == TRINE_PRODUCT ? p.second.at<T>(r, i) : T(1);
      const T term =
          x * y;  // of two numbers that aren't zero it may underflow; of -0 and Inf it is NaN
      if ((x != 0 && y != 0) || term != 0 || !std::signbit(term)) return false;
    }
    return true;
  });
}

void store_sum(const Problem& p, std::int64_t r, SuperAccumulator& total) {
  if (p.result_dtype == TRINE_U64)
    return total.store(&p.result<std::uint64_t>(r), all_negative_zero(p, r));
  with_float(p.result_dtype, [&]<class R>(R) {
    R sum = total.round<R>();
    if (sum == 0 && all_negative_zero(p, r)) sum = -R(0);
    p.result<R>(r) = sum;
  });
}

}  // namespace trine::cpu
#endif  // HWY_ONCE
