#include "ladder_run.hpp"

#include <fmt/format.h>

namespace trine::bench {

std::vector<Result> LadderRun::measure(Runner& runner, const Problem& problem,
                                       const std::string& rung, bool whole) {
  control.show(fmt::format("{} on {} {}", to_string(problem), runner.device().id(), rung));
  std::vector<Result> results = measure_rung(runner, problem, expect(problem), rung, whole);
  sampled |= expectation_->sampled();
  control.show("");
  mark_built_in(results, runner.device());
  return keep(std::move(results));
}

std::vector<Result> LadderRun::keep(std::vector<Result> results) {
  digests_.compare(results);
  document.results.insert(document.results.end(), results.begin(), results.end());
  return results;
}

Expectation& LadderRun::expect(const Problem& problem) {
  const std::string name = to_string(problem) + std::string(trine::name(problem.result));
  if (!expectation_ || name != expected_) expectation_.emplace(problem, seed_);
  expected_ = name;
  return *expectation_;
}

}  // namespace trine::bench
