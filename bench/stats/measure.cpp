#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trine::bench {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * double(sorted.size() - 1);
  const auto low = size_t(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - double(low)) * (sorted[high] - sorted[low]);
}

std::vector<double> sorted(std::vector<double> values) {
  std::ranges::sort(values);
  return values;
}

/// The 95th percentile of Student's t: by its table, and near enough beyond.
double student(size_t freedom) {
  constexpr double kTable[] = {6.314, 2.920, 2.353, 2.132, 2.015,
                               1.943, 1.895, 1.860, 1.833, 1.812};
  if (freedom <= std::size(kTable)) return kTable[freedom - 1];
  return 1.645 + 1.7 / double(freedom);
}

/// Student's prediction interval for one further value.
Interval further(const std::vector<double>& values) {
  const double middle = Samples{values}.median();
  if (values.size() < 2) return {middle, middle};
  double sum = 0, squares = 0;
  for (double value : values) sum += std::log(value);
  const double n = double(values.size()), mean = sum / n;
  for (double value : values) squares += (std::log(value) - mean) * (std::log(value) - mean);
  const double half =
      student(values.size() - 1) * std::sqrt(squares / (n - 1)) * std::sqrt(1 + 1 / n);
  return {middle * std::exp(-half), middle * std::exp(half)};
}

double log_choose(size_t n, size_t k) {
  return std::lgamma(double(n) + 1) - std::lgamma(double(k) + 1) - std::lgamma(double(n - k) + 1);
}

/// The probability that the median of n values lies below the r-th smallest of n others of their
/// kind: that half of them do. With an even number it is a little above.
double median_below(size_t r, size_t n) {
  double sum = 0;
  for (size_t k = (n + 1) / 2; k <= n; ++k)
    sum += std::exp(log_choose(r - 1 + k, k) + log_choose(2 * n - r - k, n - k) -
                    log_choose(2 * n, n));
  return sum;
}

}  // namespace

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Interval interval_of(const std::vector<double>& rounds) {
  constexpr double kTail = 0.05;
  const size_t n = rounds.size();
  size_t cut = 0;  // the last rank below which the median falls that seldom
  for (size_t above = n / 2 + 1; above - cut > 1;) {
    const size_t r = (cut + above) / 2;
    (median_below(r, n) <= kTail ? cut : above) = r;
  }
  if (cut == 0) return further(rounds);
  const std::vector<double> all = sorted(rounds);
  return {all[cut - 1], all[n - cut]};
}

double Samples::median() const { return seconds.empty() ? 0 : quantile(sorted(seconds), 0.5); }

double Samples::spread() const {
  if (seconds.size() < 2 || median() == 0) return 0;
  const std::vector<double> all = sorted(seconds);
  return (quantile(all, 0.75) - quantile(all, 0.25)) / 2 / median();
}

Interval Samples::interval() const {
  constexpr size_t kParts = 8;
  if (seconds.size() < 2 * kParts) return further(seconds);
  std::vector<double> parts;
  for (size_t p = 0; p < kParts; ++p)
    parts.push_back(Samples{{seconds.begin() + std::ptrdiff_t(p * seconds.size() / kParts),
                             seconds.begin() + std::ptrdiff_t((p + 1) * seconds.size() / kParts)}}
                        .median());
  const Interval around = further(parts);
  // Around the median of all, which is the figure.
  const double scale = median() / Samples{parts}.median();
  return {around.low * scale, around.high * scale};
}

Timed::Timed(const Samples& samples)
    : seconds(samples.median()), rounds{samples.median()}, interval(samples.interval()) {}

Timed::Timed(std::vector<double> of_rounds)
    : seconds(Samples{of_rounds}.median()),
      rounds(std::move(of_rounds)),
      interval(interval_of(rounds)) {}

Samples measure(double min_seconds, int min_count, const std::function<double()>& once) {
  constexpr int kFirst = 3;
  constexpr double kPatience = 4, kMost = 1e6;
  const auto timed = [&] {
    const double seconds = once();
    if (!(seconds > 0)) throw ClockStandsStill("its clock stands still: it took no time at all");
    return seconds;
  };
  // How many: enough of the time that is measured, but not for long where checking takes most of
  // it.
  Samples first, samples;
  double measured = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < kFirst; ++i) measured += first.seconds.emplace_back(timed());
  // Where each took as long as all should, nothing cold shows in them: they are the figure.
  if (min_count <= kFirst && std::ranges::min(first.seconds) >= min_seconds) return first;
  const double passed = seconds_since(begin);
  const double wanted =
      kFirst * std::min(min_seconds / measured, kPatience * min_seconds / std::max(passed, 1e-9));
  const auto count = int64_t(std::clamp(wanted, double(std::max(min_count, 1)), kMost));
  for (int64_t i = 0; i < count; ++i) samples.seconds.push_back(timed());
  return samples;
}

}  // namespace trine::bench
