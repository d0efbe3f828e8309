#include "result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

/// What no kernel passes whose data lies in the nearest cache: on cores the rate of reading it, twice,
/// because they store beside; on GPUs four bytes a cycle for each lane, which does one fused step.
Roof cache_roof(const Device& device) {
  const uint64_t threads = std::max(1U, device.facts().compute_units);
  const double rate = on_host(device) ? memory_rate(device, "read", threads * 16384, 0)
                                      : arithmetic_rate(device, Dtype::f32, "fma");
  return {2 * rate, "B/s", "nearest cache"};
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

std::string check_roof(const Device& device, uint64_t written, Result& result) {
  constexpr double kNoise = 1.15;
  constexpr uint64_t kBeyondCaches = uint64_t{512} << 20;
  const Problem& problem = result.problem;
  if (result.roof.value == 0 || result.rate <= kNoise * result.roof.value) return {};
  // Small data may live in caches that the roof's loop doesn't know: theirs is the roof then.
  const bool cached = !rated_by_flops(problem) && footprint(problem) < kBeyondCaches;
  Roof roof;
  for (int i = 0; i < 4; ++i) {  // another program may have the cores for a while
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * i));
    const Roof again = cached ? cache_roof(device) : roof_of(device, problem, written, true);
    if (i == 0 || again.value > roof.value) roof = again;
    if (!cached) {
      result.roof = roof;
      result.roofs = {roof.value};
    }
    if (roof.value == 0 || result.rate <= kNoise * roof.value) return {};
  }
  return fmt::format("{} is above the measured roof of {} ({}): the measurement is wrong",
                     rate_text(result.rate, roof.unit), rate_text(roof.value, roof.unit),
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
      say("{}: {} on {}{}: {}", verdict_text(r), rung.empty() ? "the default rung" : rung, r.device,
          r.memory == "resident" ? "" : fmt::format(" ({})", r.memory), r.failure);
  }
}

}  // namespace trine::bench
