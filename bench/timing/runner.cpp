#include "runner.hpp"

#include <fmt/format.h>

#include "bench/stats/measure.hpp"
#include "host_run.hpp"
#include "launches.hpp"

namespace trine::bench {
namespace {

constexpr double kShort = 20e-6;  ///< below it, launch cost matters and two figures are printed

}  // namespace

std::vector<Result> Runner::resident(const Problem& problem, Expectation& expectation,
                                     const std::string& rung, bool waited) {
  Launches launches(queue_, problem, expectation, rung);
  const uint64_t ring_bytes = launches.output_bytes();
  const auto samples_of = [&](double (Launches::*launch)()) {
    return measure(fmt::format("{} {}", device_.id(), to_string(problem)), budget_, kLeastSamples,
                   [&] { return (launches.*launch)(); });
  };
  const auto settle = [&](Result& result, const Samples& samples) {
    set_figure(result, samples, samples.median());
    result.failure = launches.failure();
    result.verified = result.failure.empty();
    result.digest = launches.digest();
  };
  Result single;
  single.problem = problem;
  single.device = device_.id();
  single.requested = rung;
  single.first = launches.first_seconds();
  single.take(launches.choice());
  single.roof = roof_of(device_, problem, ring_bytes);
  try {
    const Samples samples = samples_of(&Launches::once);
    if (waited) single.waited = Timed(samples_of(&Launches::waited));
    settle(single, samples);
    std::vector<Result> results{single};
    if (*single.kernel < kShort && single.verified) {
      Result& sustained = results.emplace_back(single);
      sustained.method = "sustained";
      sustained.waited = {};
      settle(sustained, samples_of(&Launches::back_to_back));
    }
    // What goes wrong here, goes wrong for every figure of this rung.
    const std::string wrong =
        launches.validate_timing(*results.front().kernel, *results.back().kernel);
    for (Result& result : results) {
      if (!result.verified) continue;
      result.failure = wrong.empty() ? check_roof(device_, ring_bytes, result) : wrong;
      result.verified = result.failure.empty();
    }
    return results;
  } catch (const ClockStandsStill& error) {
    single.verified = false;
    single.failure = error.what();
    return {single};
  }
}

std::vector<Result> Runner::whole(const Problem& problem, Expectation& expectation,
                                  const Result& kernel) {
  std::vector<Result> results;
  for (const bool pinned : {false, true}) {
    Result result = kernel;
    result.memory = pinned ? "pinned" : "pageable";
    result.waited = {};
    HostRun call(device_, problem, expectation.inputs(), pinned);
    call.options.rung = result.rung;
    measure_passes(call, expectation, budget_, result);
    results.push_back(result);
  }
  return results;
}

}  // namespace trine::bench
