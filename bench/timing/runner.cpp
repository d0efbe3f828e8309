#include "runner.hpp"

#include <fmt/format.h>

#include "bench/stats/measure.hpp"
#include "host_run.hpp"
#include "launches.hpp"
#include "timing_validation.hpp"

namespace trine::bench {
namespace {

constexpr double kShort = 20e-6;  ///< below it, launch cost matters and two figures are printed

void settle(Result& result, const Samples& samples, std::string failure) {
  set_figure(result, samples, samples.median());
  result.failure = std::move(failure);
  result.verified = result.failure.empty();
}

/// The figures of one problem on one device, over one ring.
class Resident {
 public:
  Resident(Queue& queue, double budget, const Problem& problem, Expectation& expectation,
           const std::string& rung)
      : queue_(queue),
        budget_(budget),
        label_(fmt::format("{} {}", queue.device().id(), to_string(problem))),
        launches_(queue, problem, expectation, rung) {
    result_.problem = problem;
    result_.device = queue.device().id();
    result_.requested = rung;
    result_.first = launches_.first_seconds();
    result_.take(launches_.choice());
    result_.roof = roof_of(queue.device(), problem, launches_.ring().bytes());
  }

  std::vector<Result> results(bool waited) {
    try {
      single(waited);
      std::vector<Result> results{result_};
      if (*result_.kernel < kShort && result_.verified) {
        sustained();
        results.push_back(result_);
        results.back().waited = {};
      }
      validate_timing(results);
      return results;
    } catch (const ClockStandsStill& error) {
      result_.verified = false;
      result_.failure = error.what();
      return {result_};
    }
  }

 private:
  void single(bool waited) {
    const Samples samples =
        measure(label_, budget_, kLeastSamples, [this] { return launches_.once(); });
    if (waited)
      result_.waited =
          Timed(measure(label_, budget_, kLeastSamples, [this] { return launches_.waited(); }));
    settle(result_, samples, launches_.failure());
    result_.digest = launches_.digest();
  }

  void sustained() {
    Ring& ring = launches_.ring();
    Checks checks;
    bool ran = false;
    const Samples samples = measure(label_, budget_, kLeastSamples, [&] {
      if (ran && checks.due()) checks.add(launches_.check(ring.slots()));
      ran = true;
      ring.poison();
      const Event start = queue_.record();
      for (int i = 0; i < ring.slots(); ++i) launches_.launch_slot(i);
      const Event stop = queue_.record();
      queue_.wait();
      return elapsed(start, stop) / ring.slots();
    });
    checks.add(launches_.check(ring.slots()));
    result_.method = "sustained";
    settle(result_, samples, checks.failure());
    result_.digest = launches_.digest();
  }

  /// What goes wrong here, goes wrong for every figure of this rung.
  void validate_timing(std::vector<Result>& results) {
    const std::string wrong =
        launches_.validate_timing(*results.front().kernel, *results.back().kernel);
    for (Result& result : results) {
      if (!result.verified) continue;
      result.failure =
          wrong.empty() ? check_roof(queue_.device(), launches_.ring().bytes(), result) : wrong;
      result.verified = result.failure.empty();
    }
  }

  Queue& queue_;
  double budget_;
  std::string label_;
  Launches launches_;
  Result result_;
};

}  // namespace

std::vector<Result> Runner::resident(const Problem& problem, Expectation& expectation,
                                     const std::string& rung, bool waited) {
  return Resident(queue_, budget_, problem, expectation, rung).results(waited);
}

std::vector<Result> Runner::whole(const Problem& problem, Expectation& expectation,
                                  const Result& kernel) {
  std::vector<Result> results;
  for (const bool pinned : {false, true}) {
    Result result = kernel;
    result.memory = pinned ? "pinned" : "pageable";
    result.waited = {};
    HostRun call(device_, problem, expectation, pinned);
    call.options.rung = result.rung;
    measure_passes(call, expectation, budget_, result);
    results.push_back(result);
  }
  return results;
}

}  // namespace trine::bench
