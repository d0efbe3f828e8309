#include "rank_tests.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace trine::bench {
namespace {

/// How many of all orders of n and m values have U = 0, 1, … n m: the coefficients of the Gaussian
/// binomial, by multiplying with (1 - q^(n+i)) / (1 - q^i) for i = 1 … m. Exact up to 2^53 orders, and
/// to 15 digits beyond.
std::vector<double> orders(int n, int m) {
  const auto top = size_t(n) * size_t(m);
  std::vector<double> count(top + 1, 0);
  count[0] = 1;
  for (int i = 1; i <= m; ++i) {
    const size_t up = size_t(n) + size_t(i), down = size_t(i);
    for (size_t u = top; u >= up && u <= top; --u) count[u] -= count[u - up];
    for (size_t u = down; u <= top; ++u) count[u] += count[u - down];
  }
  return count;
}

/// How many of all signs of n ranks have W = 0, 1, … n (n + 1) / 2: the coefficients of (1 + q) … (1 + q^n).
std::vector<double> signs(int n) {
  const auto top = size_t(n) * size_t(n + 1) / 2;
  std::vector<double> count(top + 1, 0);
  count[0] = 1;
  for (size_t rank = 1; rank <= size_t(n); ++rank)
    for (size_t w = top; w >= rank; --w) count[w] += count[w - rank];
  return count;
}

/// The probability of `u` or more, of values that are as often 0, 1, … as `count` says.
double at_least(const std::vector<double>& count, double u) {
  const double all = std::accumulate(count.begin(), count.end(), 0.0);
  // By symmetry from the small end, whose counts are exact. A half, from a tie, counts as the less rare.
  const auto below =
      size_t(std::clamp(double(count.size() - 1) - std::floor(u), 0.0, double(count.size() - 1)));
  return std::min(
      1.0, std::accumulate(count.begin(), count.begin() + std::ptrdiff_t(below) + 1, 0.0) / all);
}

double median(const std::vector<double>& sorted) {
  const size_t half = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/// U or W: how many of the differences are above `margin`, a tie as half.
double above(const std::vector<double>& differences, double margin) {
  double u = 0;
  for (double d : differences) u += d > margin ? 1 : d == margin ? 0.5 : 0;
  return u;
}

/// From the differences whose number above a margin is as rare as `count` says.
Shift shift_of(std::vector<double> differences, const std::vector<double>& count, double margin) {
  constexpr double kConfidence = 0.9;
  std::ranges::sort(differences);
  Shift shift;
  shift.estimate = median(differences);
  shift.slower = at_least(count, above(differences, margin));
  shift.faster = at_least(count, double(differences.size()) - above(differences, -margin));
  // As many differences are cut off at each end as chance would leave there.
  const double all = std::accumulate(count.begin(), count.end(), 0.0);
  double tail = 0;
  size_t cut = 0;
  while (cut < count.size() && (tail += count[cut]) <= (1 - kConfidence) / 2 * all) ++cut;
  const double infinite = std::numeric_limits<double>::infinity();
  shift.low = cut == 0 ? -infinite : differences[cut - 1];
  shift.high = cut == 0 ? infinite : differences[differences.size() - cut];
  return shift;
}

}  // namespace

double mann_whitney(int n, int m, double u) { return at_least(orders(n, m), u); }

double wilcoxon(int n, double w) { return at_least(signs(n), w); }

Shift shift_between(const std::vector<double>& base, const std::vector<double>& next,
                    double margin) {
  std::vector<double> differences;
  for (double b : base)
    for (double a : next) differences.push_back(std::log(a / b));
  return shift_of(std::move(differences), orders(int(base.size()), int(next.size())), margin);
}

Shift shift_of_pairs(const std::vector<double>& base, const std::vector<double>& next,
                     double margin) {
  // W is the number of means of two differences, each with itself too, that are above 0 (Tukey, 1949).
  std::vector<double> means;
  for (size_t i = 0; i < base.size(); ++i)
    for (size_t j = 0; j <= i; ++j)
      means.push_back((std::log(next[i] / base[i]) + std::log(next[j] / base[j])) / 2);
  return shift_of(std::move(means), signs(int(base.size())), margin);
}

std::vector<double> holm(const std::vector<double>& probabilities) {
  std::vector<size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) { return probabilities[a] < probabilities[b]; });
  std::vector<double> corrected(probabilities.size());
  double least = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    least = std::max(least, double(order.size() - rank) * probabilities[order[rank]]);
    corrected[order[rank]] = std::min(least, 1.0);
  }
  return corrected;
}

int rounds_needed(int cases, double alpha, bool pairs) {
  const auto rarest = [pairs](int n) {
    return pairs ? wilcoxon(n, n * (n + 1) / 2.0) : mann_whitney(n, n, double(n) * n);
  };
  int n = 2;
  while (rarest(n) * cases > alpha) ++n;
  return n;
}

}  // namespace trine::bench
