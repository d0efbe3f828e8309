#include "timing_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

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
