#include "measure.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <stdexcept>

namespace trine::bench {
namespace {

/// Google Benchmark's reporter prints; ours lets the samples speak.
class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * double(sorted.size() - 1);
  const auto low = size_t(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - double(low)) * (sorted[high] - sorted[low]);
}

std::vector<double> sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

double Samples::median() const { return seconds.empty() ? 0 : quantile(sorted(seconds), 0.5); }

double Samples::spread() const {
  if (seconds.size() < 2 || median() == 0) return 0;
  const std::vector<double> all = sorted(seconds);
  return (quantile(all, 0.75) - quantile(all, 0.25)) / 2 / median();
}

Samples measure(const std::string& label, double min_seconds, int min_count,
                const std::function<double()>& once) {
  Samples samples;
  std::exception_ptr failure;
  const auto body = [&](benchmark::State& state) {
    samples.seconds.clear();  // earlier calls searched for the number of iterations
    for (auto _ : state) {
      if (failure) break;
      try {
        const double seconds = once();
        // A clock that stands still would have the loop run for ever.
        if (!(seconds > 0))
          throw ClockStandsStill("its clock stands still: it took no time at all");
        samples.seconds.push_back(seconds);
        state.SetIterationTime(seconds);
      } catch (...) {
        failure = std::current_exception();
        state.SkipWithError("failed");
      }
    }
  };
  // How many: enough of the time that is measured, but not for long where checking takes most of it.
  constexpr int kFirst = 3;
  constexpr double kPatience = 4, kMost = 1e6;
  double measured = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kFirst; ++i) measured += once();
  const double passed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double wanted = kFirst * std::min(min_seconds / std::max(measured, 1e-9),
                                          kPatience * min_seconds / std::max(passed, 1e-9));
  const auto count = int64_t(std::clamp(wanted, double(std::max(min_count, 1)), kMost));
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(label.c_str(), body)->UseManualTime()->Iterations(count);
  Silent silent;
  benchmark::RunSpecifiedBenchmarks(&silent, ".*");
  if (failure) std::rethrow_exception(failure);
  while (int(samples.seconds.size()) < min_count) samples.seconds.push_back(once());
  return samples;
}

}  // namespace trine::bench
