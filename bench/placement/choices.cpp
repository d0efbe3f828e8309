#include "placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "bench/cases/cases.hpp"
#include "bench/cases/operations.hpp"
#include "bench/timing/launches.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

constexpr double kBudget = 10e-3;  ///< seconds of launches, at least
constexpr int kFewest = 3;         ///< launches, at least
constexpr uint64_t kSeed = 1;

/// "gemm f32 rrr reproducible 512x512x512x1": the words before the size.
std::string_view kind_of(std::string_view call) { return call.substr(0, call.rfind(' ')); }

/// `kind` at the size that a row of the tuning table has.
Problem at_size(Problem kind, std::string_view call) {
  std::vector<int64_t> extents;
  const char* at = call.data() + call.rfind(' ');
  const char* const end = call.data() + call.size();
  while (at < end) at = std::from_chars(at + 1, end, extents.emplace_back()).ptr;
  kind.size = {extents.at(0), extents.at(1), 0};
  if (describe(kind.operation).factors == 3) kind.size.depth = extents.at(2);
  if (describe(kind.operation).is_batched) kind.batch = extents.back();
  return kind;
}

/// Whether memory holds it and what it is checked by.
bool fits(const Problem& problem) {
  try {
    check(problem);
    return true;
  } catch (const Refusal&) { return false; }
}

/// Checks the device's choice for a problem; an error of it goes into `result`.
void check_choice(Queue& queue, Expectation& expectation, Result& result) {
  Launches launches(queue, result.problem, expectation, "");
  result.take(launches.choice());
  const Samples samples = measure(kBudget, kFewest, [&] { return launches.once(); });
  result.failure = launches.failure();
  result.digest = launches.digest();
  if (result.failure.empty()) result.failure = launches.check_unseen_data(samples.median());
  result.verified = result.failure.empty();
}

Result checked(Queue& queue, const Problem& problem, Expectation& expectation) {
  Result result;
  result.problem = problem;
  result.device = queue.device().id();
  try {
    check_choice(queue, expectation, result);
  } catch (const ClockStandsStill& error) {
    result.failure = error.what();
  } catch (const Error& error) {
    // A device isn't calibrated for calls that it refuses; a lost device ends the work.
    if (error.status() == Status::device_lost) throw;
    result.skipped =
        error.status() == Status::unsupported || error.status() == Status::out_of_memory;
    result.failure = error.what();
  }
  return result;
}

}  // namespace

std::vector<Problem> calibrated_kinds() {
  std::vector<Problem> kinds;
  for (const Operation operation : operations_of(Cases()))
    for (const Function function : describe(operation).calibrated_functions)
      for (const Dtype dtype : describe(operation).calibrated_dtypes)
        kinds.push_back(problem_of(operation, dtype, {}, function));
  return kinds;
}

std::vector<Problem> calibrated_calls() {
  std::vector<Problem> calls;
  for (Problem kind : calibrated_kinds())
    for (const auto& [axis, size] : describe(kind.operation).calibrated_sizes) {
      kind.axis = axis;
      kind.size = size;
      calls.push_back(kind);
    }
  return calls;
}

std::vector<Problem> tuning_keys(const Device& device) {
  std::vector<Problem> tuned;
  if (!uses_tuning()) return tuned;
  const std::vector<Problem> kinds = calibrated_calls();
  for (const Tuned& row : tuning(device).rows) {
    if (row.rung.empty()) continue;
    const auto kind = std::ranges::find_if(kinds, [&](const Problem& problem) {
      return kind_of(tuning_key(problem)) == kind_of(row.call);
    });
    if (kind == kinds.end()) continue;
    const Problem problem = at_size(*kind, row.call);
    if (fits(problem)) tuned.push_back(problem);
  }
  return tuned;
}

std::vector<Result> check_choices(const std::vector<Device>& devices, Control& control) {
  std::vector<Result> results;
  std::vector<Queue> queues(devices.begin(), devices.end());
  const auto check_on = [&](std::span<Queue> some, const Problem& problem) {
    control.show(fmt::format("checking {}", to_string(problem)));
    const Expected expectation = expected(problem, kSeed);
    for (Queue& queue : some) {
      std::optional<Result> result = Control::step([own = queue, problem, expectation]() mutable {
        return checked(own, problem, *expectation);
      });
      if (!result) return;
      results.push_back(*std::move(result));
    }
  };
  for (const Problem& problem : calibrated_calls()) check_on(queues, problem);
  for (Queue& queue : queues)
    for (const Problem& problem : tuning_keys(queue.device())) check_on({&queue, 1}, problem);
  control.show("");
  return results;
}

}  // namespace trine::bench
