#include "result.hpp"

#include <algorithm>
#include <cstdio>

#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench {

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

std::string rate_text(const Result& r) {
  return rate_text(r.rate, rated_by_flops(r.problem) ? "flop/s" : "B/s");
}

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
      say("{}: {}: {}", verdict_text(r), rung.empty() ? "the device's own choice" : rung,
          r.failure);
  }
}

}  // namespace trine::bench
