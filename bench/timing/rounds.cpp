#include "rounds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/stats/measure.hpp"

namespace trine::bench {
namespace {

using Case = std::vector<const Result*>;  ///< its results, one a round

double median(std::vector<double> values) { return Samples{std::move(values)}.median(); }

template <class Member>
void set_median(Result& result, const Case& all, Member member) {
  std::vector<double> values;
  for (const Result* one : all)
    if (one->*member) values.push_back(*(one->*member));
  if (!values.empty()) result.*member = median(values);
}

/// A list that each has, one after the other.
template <class ListOf>
std::vector<double> joined(const Case& all, ListOf list_of) {
  std::vector<double> values;
  for (const Result* one : all) {
    const std::vector<double>& list = list_of(*one);
    values.insert(values.end(), list.begin(), list.end());
  }
  return values;
}

/// What keeps a case from being right in every round: a wrong result before a refusal; or nothing.
const Result* worst(const Case& all) {
  const Result* refused = nullptr;
  for (const Result* one : all) {
    if (one->wrong()) return one;
    if (one->skipped) refused = one;
  }
  return refused;
}

Result one_of(const Case& all) {
  Result result = *all.front();
  for (const auto member :
       {&Result::alloc, &Result::h2d, &Result::kernel, &Result::d2h, &Result::total})
    set_median(result, all, member);
  const auto waited = joined(
      all, [](const Result& r) -> auto& { return r.waited.rounds; });
  if (!waited.empty()) result.waited = Timed(waited);
  result.rounds = joined(
      all, [](const Result& r) -> auto& { return r.rounds; });
  result.roofs = joined(
      all, [](const Result& r) -> auto& { return r.roofs; });
  result.samples = 0;
  std::vector<double> spreads;
  for (const Result* one : all) {
    result.samples += one->samples;
    spreads.push_back(one->spread);
    result.roof.value = std::max(result.roof.value, one->roof.value);
    if (result.verified && one->verified && one->digest != result.digest &&
        result.numerics == Numerics::reproducible) {
      result.verified = false;
      result.failure = fmt::format("other bits than in the first round ({:016x}, {:016x})",
                                   one->digest, result.digest);
    }
  }
  if (const Result* bad = worst(all)) {
    result.verified = false;
    result.skipped = bad->skipped;
    result.failure = bad->failure;
  }
  result.spread = median(spreads);
  if (result.kernel && *result.kernel > 0) result.rate = work(result.problem) / *result.kernel;
  result.interval = interval_of(result.rounds);
  return result;
}

bool same_launches(const Result& a, const Result& b) {
  return a.device == b.device && a.requested == b.requested && a.memory == b.memory;
}

}  // namespace

std::vector<Result> combined(const std::vector<std::vector<Result>>& rounds) {
  if (rounds.size() == 1) return rounds.front();
  std::vector<Case> cases;  // in the order of their first results
  const auto find = [&](const Result& like, std::string_view method) {
    return std::ranges::find_if(cases, [&](const Case& of) {
      return same_launches(*of.front(), like) && of.front()->method == method;
    });
  };
  for (const std::vector<Result>& round : rounds)
    for (const Result& result : round) {
      const auto found = find(result, result.method);
      (found == cases.end() ? cases.emplace_back() : *found).push_back(&result);
    }
  std::vector<Result> results;
  for (const Case& all : cases) {
    // Of launches about as long as those that are repeated back to back, some rounds have no such figure (an early
    // end leaves some without any); a wrong one counts all the same.
    const auto single = find(*all.front(), "single");
    const bool is_left_out =
        all.front()->method == "sustained" && single != cases.end() && all.size() < single->size();
    if (!is_left_out || std::ranges::any_of(all, &Result::wrong)) results.push_back(one_of(all));
  }
  return results;
}

}  // namespace trine::bench
