// Finds the sizes of a call at which one device becomes faster than another.
#include <cmath>

#include "placement.hpp"

namespace trine {
namespace detail {

Swaps find_swaps(const std::function<Estimate(double)>& first,
                 const std::function<Estimate(double)>& second, double limit) {
  constexpr double kStep = 1.0905077326652577;  // 2^(1/8)
  Swaps found;
  double lead = 0;  // the sum of the logarithms of the ratios tells who is faster on the whole
  double decided = 1, equal = 1;  // sizes: the last one with a surely faster device, of equal times
  double before = 0, size_before = 1;  // the ratio's log at the last size
  const auto last = static_cast<int64_t>(limit);
  const auto after = [](int64_t n) {
    return std::max(n + 1, static_cast<int64_t>(static_cast<double>(n) * kStep));
  };
  for (int64_t n = 1; n <= last; n = after(n)) {
    const auto size = static_cast<double>(n);
    const Estimate a = first(size), b = second(size);
    const double ratio = std::log(a.seconds / b.seconds);
    lead += ratio;
    if (ratio * before < 0) {
      const double share = before / (before - ratio);
      equal = size_before * std::pow(size / size_before, share);
    }
    if (ratio != 0) before = ratio;
    size_before = size;
    const bool first_wins = a.high < b.low;
    if (!first_wins && !(b.high < a.low)) continue;
    if (found.sure && found.first_is_faster != first_wins)
      found.all.push_back({found.first_is_faster, equal, decided, size});
    found.sure = true;
    found.first_is_faster = first_wins;
    decided = size;
  }
  if (!found.sure) found.first_is_faster = lead <= 0;
  return found;
}

namespace {

/// The call of size `n`: n elements, n x n, n x n x n.
AnyValue call_of(const Crossing& kind, double n) {
  const CallClass shape{kind.operation, kind.function, Axis::all, kind.dtype, {}, {}};
  return description_of(kind.operation).sample(shape, {n, n, n});
}

Work work_of_size(const Crossing& kind, double n) { return work_of(call_of(kind, n)); }

/// The largest size, to a hundredth, that the memory of both takes.
double largest(const Crossing& kind) {
  const auto fits = [&](double n) {
    const Work work = work_of_size(kind, n);
    return memory_refusal(kind.below, work).status == Status::ok &&
           memory_refusal(kind.above, work).status == Status::ok;
  };
  double size = 1;
  const double most = description_of(kind.operation).largest_side;
  while (size < most && fits(2 * size)) size *= 2;
  for (double step = size / 2; step >= 1 && step > size / 128; step /= 2)
    if (fits(size + step)) size += step;
  return size;
}

std::string data_words(Where where) {
  switch (where) {
    case Where::device: return "resident data";
    case Where::host: return "pageable host data";
    case Where::host_pinned: return "pinned host data";
    default: return "pinned host data, pipelined";
  }
}

std::string sentence_of(const Crossing& c) {
  const Description& is = description_of(c.operation);
  const std::string head =
      cat(is.noun(c.function), " of ", name(c.dtype), ", ", data_words(c.where), ": ");
  const std::string_view words = is.size_words;
  if (!c.never) {
    return cat(head, c.below.id(), " is faster below n = ", c.size, words, " (between ", c.low,
               " and ", c.high, "), ", c.above.id(), " above.");
  }
  if (!c.sure)
    return cat(head, c.below.id(), " and ", c.above.id(),
               " can't be distinguished by the samples at any size within memory.");
  return cat(head, c.above.id(), " is never faster than ", c.below.id(), " within memory (n up to ",
             c.high, words, ").");
}

std::vector<Crossing> crossings(const Crossing& kind) {
  plan_of(call_of(kind, 1));  // refuses what place() would
  const auto times = [&](const Device& device) {
    return [&kind, &device](double n) -> Estimate {
      return predict(device, work_of_size(kind, n), kind.where, 1);
    };
  };
  const double limit = largest(kind);
  const Swaps swaps = find_swaps(times(kind.below), times(kind.above), limit);
  std::vector<Crossing> all;
  for (const Swap& swap : swaps.all) {
    Crossing crossing = kind;
    if (!swap.first_below) std::swap(crossing.below, crossing.above);
    crossing.size = std::llround(swap.size);
    crossing.low = std::llround(swap.low);
    crossing.high = std::llround(swap.high);
    crossing.sentence = sentence_of(crossing);
    all.push_back(std::move(crossing));
  }
  if (!all.empty()) return all;
  Crossing never = kind;
  if (!swaps.first_is_faster) std::swap(never.below, never.above);
  never.never = true;
  never.high = std::llround(limit);
  never.sure = swaps.sure;
  never.sentence = sentence_of(never);
  return {never};
}

}  // namespace
}  // namespace detail

std::vector<Crossing> break_even(Operation operation, Function function, Dtype dtype, Where where,
                                 const Device& first, const Device& second) {
  return detail::entry([&] {
    detail::check_where(where, "break_even()");
    return detail::crossings(
        {operation, function, dtype, where, first, second, false, 0, 0, 0, {}, true});
  });
}

}  // namespace trine
