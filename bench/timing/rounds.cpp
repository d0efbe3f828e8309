#include "rounds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/stats/measure.hpp"

namespace trine::bench {
namespace {

double median(std::vector<double> values) { return Samples{std::move(values)}.median(); }

template <class Member>
void set_median(Result& result, const std::vector<const Result*>& all, Member member) {
  std::vector<double> values;
  for (const Result* one : all)
    if (one->*member) values.push_back(*(one->*member));
  if (!values.empty()) result.*member = median(values);
}

void set_waited(Result& result, const std::vector<const Result*>& all) {
  std::vector<double> rounds;
  for (const Result* one : all)
    rounds.insert(rounds.end(), one->waited.rounds.begin(), one->waited.rounds.end());
  if (!rounds.empty()) result.waited = Timed(std::move(rounds));
}

/// What keeps a case from being right in every round: a wrong result before a refusal; or nothing.
const Result* worst(const std::vector<const Result*>& all) {
  const Result* refused = nullptr;
  for (const Result* one : all) {
    if (one->wrong()) return one;
    if (one->skipped) refused = one;
  }
  return refused;
}

Result one_of(const std::vector<const Result*>& all) {
  Result result = *all.front();
  for (const auto member :
       {&Result::alloc, &Result::h2d, &Result::kernel, &Result::d2h, &Result::total})
    set_median(result, all, member);
  set_waited(result, all);
  std::vector<double> spreads;
  result.rounds.clear();
  result.roofs.clear();
  result.samples = 0;
  for (const Result* one : all) {
    result.rounds.insert(result.rounds.end(), one->rounds.begin(), one->rounds.end());
    result.roofs.insert(result.roofs.end(), one->roofs.begin(), one->roofs.end());
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

bool same_case(const Result& a, const Result& b) {
  return a.device == b.device && a.requested == b.requested && a.memory == b.memory &&
         a.method == b.method;
}

/// In how many rounds the rung was launched: an early end leaves some without.
size_t singles(const std::vector<std::vector<Result>>& rounds, Result result) {
  result.method = "single";
  size_t count = 0;
  for (const std::vector<Result>& round : rounds)
    for (const Result& other : round) count += same_case(other, result) ? 1 : 0;
  return count;
}

}  // namespace

std::vector<Result> combined(const std::vector<std::vector<Result>>& rounds) {
  if (rounds.size() == 1) return rounds.front();
  std::vector<Result> results;
  for (const std::vector<Result>& round : rounds)
    for (const Result& result : round) {
      if (std::ranges::any_of(results, [&](const Result& r) { return same_case(r, result); }))
        continue;
      std::vector<const Result*> all;
      for (const std::vector<Result>& other : rounds)
        for (const Result& r : other)
          if (same_case(r, result)) all.push_back(&r);
      // Of launches about as long as those that are repeated back to back, some rounds have no such figure;
      // a wrong one counts all the same.
      const bool is_wrong = std::ranges::any_of(all, [](auto* r) { return r->wrong(); });
      if (result.method == "sustained" && all.size() < singles(rounds, result) && !is_wrong)
        continue;
      results.push_back(one_of(all));
    }
  return results;
}

}  // namespace trine::bench
