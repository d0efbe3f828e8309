#include "runner.hpp"

#include <fmt/format.h>

#include <chrono>

#include "measure.hpp"
#include "ring.hpp"
#include "scrutiny.hpp"

namespace trine::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kShort = 20e-6;  ///< below it, launch cost matters and two figures are printed

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void settle(Result& result, const Samples& samples, const Checks& checks) {
  set_figure(result, samples, samples.median());
  result.failure = checks.failure();
  result.verified = result.failure.empty();
}

/// The figures of one problem on one device, over one ring.
class Resident {
 public:
  Resident(Queue& queue, double budget, const Problem& problem, Expectation& expectation,
           const std::string& rung)
      : queue_(queue),
        budget_(budget),
        expectation_(expectation),
        rung_(rung),
        label_(fmt::format("{} {}", queue.device().id(), to_string(problem))),
        ring_(queue, problem, expectation) {
    result_.problem = problem;
    result_.device = queue.device().id();
    result_.requested = rung;
  }

  std::vector<Result> results() {
    try {
      first();
      single();
      std::vector<Result> results{result_};
      if (*result_.kernel < kShort && result_.verified) {
        sustained();
        results.push_back(result_);
      }
      scrutinize(results);
      return results;
    } catch (const ClockStandsStill& error) {
      result_.verified = false;
      result_.failure = error.what();
      return {result_};
    }
  }

 private:
  void launch_slot(int slot) { launch(queue_, ring_.operation(slot), rung_); }

  void first() {
    const auto begin = Clock::now();
    const Choice choice = launch(queue_, ring_.operation(0), rung_);
    queue_.wait();
    result_.first = since(begin);
    result_.rung = choice.rung();
    result_.why = std::string(choice.why);
    result_.numerics = choice.numerics;
    result_.roof = roof_of(queue_.device(), result_.problem, ring_.bytes());
    ring_.poison();  // the first launch's answer must not serve for a timed one
    queue_.wait();
  }

  std::string check(int used) {
    return ring_.check(expectation_, used, result_.numerics, &result_.digest);
  }

  void single() {
    int slot = 0;
    const auto next_ring = [&] {
      if (checks_.due()) {
        ring_.peek(slot - 1);
        checks_.add(check(slot));
      }
      slot = 0;
      ring_.poison();
      queue_.wait();
    };
    const Samples samples = measure(label_, budget_, kLeastSamples, [&] {
      if (slot == ring_.slots()) next_ring();
      if (checks_.surprise()) {
        ring_.poison(slot);
        queue_.wait();
      }
      const auto begin = Clock::now();
      const Event start = queue_.record();
      launch_slot(slot++);
      const Event stop = queue_.record();
      queue_.wait();
      host_.seconds.push_back(since(begin));
      return elapsed(start, stop);
    });
    ring_.peek(slot - 1);
    checks_.add(check(slot));
    settle(result_, samples, checks_);
  }

  void sustained() {
    Checks checks;
    bool ran = false;
    const Samples samples = measure(label_, budget_, kLeastSamples, [&] {
      if (ran && checks.due()) checks.add(check(ring_.slots()));
      ran = true;
      ring_.poison();
      const Event start = queue_.record();
      for (int i = 0; i < ring_.slots(); ++i) launch_slot(i);
      const Event stop = queue_.record();
      queue_.wait();
      return elapsed(start, stop) / ring_.slots();
    });
    checks.add(check(ring_.slots()));
    result_.method = "sustained";
    settle(result_, samples, checks);
  }

  /// What goes wrong here, goes wrong for every figure of this rung.
  void scrutinize(std::vector<Result>& results) {
    const double seconds = *results.back().kernel;
    const Launch again = [this](int slot) { launch_slot(slot); };
    std::string wrong;
    // One clock's medians suffice where handing over and waking up take no part in them.
    if (!agree(host_.median(), *results.front().kernel))
      wrong = check_clocks(queue_, again, ring_.slots(), seconds);
    if (wrong.empty())
      wrong = check_unseen_data(queue_, again, ring_, expectation_, result_.numerics,
                                *results.front().kernel);
    for (Result& result : results) {
      if (!result.verified) continue;
      result.failure = wrong.empty() ? check_roof(queue_.device(), ring_.bytes(), result) : wrong;
      result.verified = result.failure.empty();
    }
  }

  Queue& queue_;
  double budget_;
  Expectation& expectation_;
  std::string rung_, label_;
  Ring ring_;
  Result result_;
  Checks checks_;
  Samples host_;  ///< the host's clock around each single launch
};

}  // namespace

void set_figure(Result& result, const Samples& samples, double seconds) {
  result.kernel = seconds;
  result.samples = int(samples.seconds.size());
  result.spread = samples.spread();
  result.rounds = {samples.median()};
  result.interval = samples.interval();
  result.roofs = {result.roof.value};
  result.rate = seconds > 0 ? work(result.problem) / seconds : 0;
}

std::vector<Result> Runner::resident(const Problem& problem, Expectation& expectation,
                                     const std::string& rung) {
  return Resident(queue_, budget_, problem, expectation, rung).results();
}

}  // namespace trine::bench
