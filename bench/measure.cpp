#include "measure.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
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
        if (!(seconds > 0)) throw std::runtime_error(label + ": the clock says it took no time");
        samples.seconds.push_back(seconds);
        state.SetIterationTime(seconds);
      } catch (...) {
        failure = std::current_exception();
        state.SkipWithError("failed");
      }
    }
  };
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(label.c_str(), body)->UseManualTime()->MinTime(min_seconds);
  Silent silent;
  benchmark::RunSpecifiedBenchmarks(&silent, ".*");
  if (failure) std::rethrow_exception(failure);
  while (int(samples.seconds.size()) < min_count) samples.seconds.push_back(once());
  return samples;
}

}  // namespace trine::bench
