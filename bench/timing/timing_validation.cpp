#include "timing_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "bench/stats/measure.hpp"
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

bool agree(double host, double device) {
  constexpr double kNear = 1.15;
  return host <= kNear * device && device <= kNear * host;
}

std::string check_clocks(Queue& queue, const Launch& launch, int slots, double seconds) {
  // The host only adds (handing over, waking up, another program's slice of the core): a right clock never
  // takes longer than the host, and what the host adds drowns in ever longer batches. They double by count,
  // because launches back to back may take far less than the one that `seconds` tells of.
  constexpr double kFirst = 4e-3, kLast = 0.5;
  constexpr int kTries = 16, kMostAtFirst = 1 << 10, kMostLaunches = 1 << 16;
  constexpr int kEnough = 3;  // in a row: by chance a clock too fast and a busy machine meet twice
  double device = 0, host = 0;
  int agreed = 0;
  int count = int(std::clamp(std::ceil(kFirst / seconds), 1.0, double(kMostAtFirst)));
  for (int i = 0; i < kTries && host < kLast; ++i, count = std::min(2 * count, kMostLaunches)) {
    const auto begin = Clock::now();
    const Event start = queue.record();
    for (int n = 0; n < count; ++n) launch(n % slots);
    const Event stop = queue.record();
    queue.wait();
    host = seconds_since(begin);
    device = elapsed(start, stop);
    const bool agrees = agree(host, device);
    if (host >= kFirst && device > host && !agrees) {
      agreed = 0;
      break;
    }
    agreed = agrees ? agreed + 1 : 0;
    if (agreed == kEnough) return {};
  }
  if (agreed > 0) return {};  // what takes long is launched but once
  return fmt::format(
      "its clock is wrong: launches took {} by the host's clock and {} by the device's",
      time_text(host), time_text(device));
}

std::string check_unseen_data(Queue& queue, const Launch& launch, Ring& ring,
                              Expectation& expectation, Numerics numerics, double seconds) {
  // Launches after a pause take longer by themselves: threads asleep, caches cold, clocks low.
  constexpr double kFar = 8, kPause = 1e-3;
  constexpr int kTries = 20, kAlike = 5;
  const auto timed = [&] {
    const Event start = queue.record();
    launch(0);
    const Event stop = queue.record();
    queue.wait();
    ring.peek(0);
    return elapsed(start, stop);
  };
  double least = 0;
  int alike = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto pause = std::chrono::milliseconds(2 * i);
    std::this_thread::sleep_for(pause);
    if (i == 0)
      ring.change(expectation);
    else if (!ring.change_one(expectation))
      return {};
    const double taken = timed();
    least = i == 0 ? taken : std::min(least, taken);
    if (i < 2) {
      std::string wrong = i == 0 ? ring.check_unseen(expectation, numerics)
                                 : ring.check_changed(expectation, numerics);
      if (!wrong.empty()) return wrong;
    }
    if (i == 0) continue;  // it may look at few elements: one that it doesn't is changed next
    if (taken <= kFar * seconds + kPause) return {};
    // Others may have the cores for a while, or a library's threads fell asleep: then the same data takes as
    // long after the same pause and the same writes.
    std::this_thread::sleep_for(pause);
    ring.change_again(expectation);
    alike += taken <= kFar * timed() + kPause ? 1 : 0;
    if (alike == kAlike) return {};
  }
  return fmt::format("it takes {} for new data and {} for known data: it remembers answers",
                     time_text(least), time_text(seconds));
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

}  // namespace trine::bench
