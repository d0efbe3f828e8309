#include "result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

constexpr double kNoise = 1.15;

/// Small data may live in caches that the roof's loop doesn't know.
bool may_be_cached(const Problem& problem) {
  constexpr uint64_t kBeyondCaches = uint64_t{512} << 20;
  return !rated_by_flops(problem) && footprint(problem) < kBeyondCaches;
}

/// The rate that no kernel passes whose data lies in the nearest cache: on cores the rate of
/// reading it, twice, because they store beside; on GPUs four bytes a cycle for each lane, which
/// does one fused step. The best that was measured so far.
Roof cache_roof(const Device& device, bool again) {
  static std::map<std::string, double> known;
  const auto [entry, is_new] = known.try_emplace(device.id(), 0);
  if (is_new || again) {
    const uint64_t threads = std::max(1U, device.facts().compute_units);
    const double rate = on_host(device) ? memory_rate(device, "read", threads * 16384, 0)
                                        : arithmetic_rate(device, Dtype::f32, "fma");
    entry->second = std::max(entry->second, rate);
  }
  return {2 * entry->second, "B/s", "nearest cache"};
}

bool is_above(const Result& result, const Roof& roof) {
  return roof.value > 0 && result.rate > kNoise * roof.value;
}

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

/// The result because of which a case isn't right in every round: a wrong one before a refusal; or
/// nothing.
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

void Result::take(const Choice& choice) {
  rung = choice.rung();
  rung_index = int(choice.rung_index);
  why = std::string(choice.why);
  numerics = choice.numerics;
}

void set_figure(Result& result, const Samples& samples, double seconds) {
  result.kernel = seconds;
  result.samples = int(samples.seconds.size());
  result.spread = samples.spread();
  result.rounds = {samples.median()};
  result.interval = samples.interval();
  result.roofs = {result.roof.value};
  result.rate = seconds > 0 ? work(result.problem) / seconds : 0;
}

void settle_roof(const Device& device, uint64_t written, const std::function<double()>& once,
                 Result& result) {
  constexpr int kTurns = 8;
  constexpr double kTurn = 0.02;  // seconds of the kernel's in a turn, at least
  if (!is_above(result, result.roof)) return;
  const bool cached = may_be_cached(result.problem);
  Samples launches;
  for (int turn = 0; turn <= kTurns; ++turn) {
    const auto begin = Clock::now();
    for (int i = 0; turn > 0 && (i < kLeastSamples || seconds_since(begin) < kTurn); ++i)
      launches.seconds.push_back(once());
    const Roof roof =
        cached ? cache_roof(device, turn > 0) : roof_of(device, result.problem, written, true);
    if (!cached) result.roof = roof;
    if (turn > 0) set_figure(result, launches, launches.median());
    result.roofs = {result.roof.value};
    if (!is_above(result, roof)) return;
  }
}

std::string above_roof(const Device& device, const Result& result) {
  const Roof roof = may_be_cached(result.problem) && is_above(result, result.roof)
                        ? cache_roof(device, false)
                        : result.roof;
  if (!is_above(result, roof)) return {};
  return fmt::format("{} is above the measured roof of {} ({}): the measurement is wrong",
                     rate_text(result), rate_text(roof.value, rate_unit(result.problem)),
                     roof.what);
}

Parameters parameters_of(std::string_view rung) {
  Parameters all;
  rung.remove_prefix(std::min(rung.find(':'), rung.size()));
  while (rung.size() > 1) {
    rung.remove_prefix(1);  // the colon, a comma
    const std::string_view pair = rung.substr(0, rung.find(','));
    const size_t equal = std::min(pair.find('='), pair.size());
    all.emplace_back(pair.substr(0, equal), pair.substr(std::min(equal + 1, pair.size())));
    rung.remove_prefix(pair.size());
  }
  return all;
}

std::string rate_text(const Result& r) { return rate_text(r.rate, rate_unit(r.problem)); }

std::string share_text(const Result& r, int decimals) {
  return percent_text(r.rate, r.roof.value, decimals);
}

bool is_above_roof(const std::vector<Result>& results) {
  return std::any_of(results.begin(), results.end(), [](const Result& r) {
    return r.verified && r.roof.value > 0 && r.rate > 1.005 * r.roof.value;  // 100 % when rounded
  });
}

const char* verdict_text(const Result& r) {
  if (r.skipped) return "refused";
  if (!r.verified) return "WRONG";
  return r.numerics == Numerics::reproducible ? "same bits" : "within bound";
}

void print_reasons(const std::vector<Result>& results) {
  for (const Result& r : results) {
    if (r.failure.empty()) continue;
    const std::string& rung = r.rung.empty() ? r.requested : r.rung;
    if (r.failure.find("rung " + bare(rung) + " refuses") != std::string::npos)
      say("{}: {}", verdict_text(r), r.failure);  // which names the rung
    else
      say("{}: {} on {}{}: {}", verdict_text(r), rung.empty() ? "the default rung" : rung, r.device,
          r.memory == "resident" ? "" : fmt::format(" ({})", r.memory), r.failure);
  }
}

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
    // Where a single launch is about as long as one repeated back to back, some rounds have no
    // sustained figure (an early end leaves some without any); a wrong one counts all the same.
    const auto single = find(*all.front(), "single");
    const bool is_left_out =
        all.front()->method == "sustained" && single != cases.end() && all.size() < single->size();
    if (!is_left_out || std::ranges::any_of(all, &Result::wrong)) results.push_back(one_of(all));
  }
  return results;
}

}  // namespace trine::bench
