// The CPU's roofs are measured by plain loops on as many threads as the device has; a GPU's memory
// by the driver's own copy, its arithmetic by chains of multiply-adds.
#include "roof.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "bench/cases/operations.hpp"
#include "bench/stats/measure.hpp"
#include "probes.hpp"

namespace trine::bench {
namespace {

double device_copy(const Device& device, uint64_t bytes) {
  Queue queue(device);
  const uint64_t half = std::max<uint64_t>(bytes / 2 / 4096 * 4096, uint64_t{64} << 20);
  Buffer source(device, half), target(device, half);
  const View from = vector(source, Dtype::b32, int64_t(half / 4)),
             to = vector(target, Dtype::b32, int64_t(half / 4));
  const uint32_t seed = 0x3f9d70a4;
  fill(queue, from, &seed);
  fill(queue, to, &seed);
  queue.wait();
  const auto once = [&] {
    const Event start = queue.record();
    copy(queue, from, to);
    const Event stop = queue.record();
    queue.wait();
    return elapsed(start, stop);
  };
  return 2.0 * double(half) / least_seconds(once);
}

bool has_roof(Dtype dtype) { return dtype == Dtype::f32 || dtype == Dtype::f64; }

int threads_of(const Device& device) { return std::max(1, int(device.facts().compute_units)); }

std::map<std::string, Roof>& known_roofs() {
  static std::map<std::string, Roof> known;
  return known;
}

}  // namespace

bool on_host(const Device& device) { return device.facts().kind == DeviceKind::cpu; }

double memory_rate(const Device& device, std::string_view what, uint64_t read, uint64_t written) {
  const int threads = threads_of(device);
  if (what == "copy")
    return on_host(device) ? cpu_copy_rate(threads, read, written)
                           : device_copy(device, read + written);
  return on_host(device) ? cpu_read_rate(threads, read) : gpu_read_rate(device, read);
}

double arithmetic_rate(const Device& device, Dtype dtype, std::string_view unit) {
  if (!has_roof(dtype)) return 0;
  if (!on_host(device)) return gpu_unit_rate(device, dtype, unit);
  return unit == "fma" ? cpu_fma_rate(threads_of(device), dtype) : 0;
}

double least_seconds(const std::function<double()>& once) {
  double least = std::numeric_limits<double>::infinity();
  const auto begin = Clock::now();
  for (int i = 0; i < 4 || (i < 200 && seconds_since(begin) < 0.06); ++i)
    least = std::min(least, once());
  return least;
}

void forget_roofs() { known_roofs().clear(); }

Roof roof_of(const Device& device, const Problem& problem, uint64_t written, bool again) {
  std::map<std::string, Roof>& known = known_roofs();
  const bool arithmetic = rated_by_flops(problem);
  if (arithmetic && problem.numerics != Numerics::reproducible) return {0, "flop/s", "fma"};
  const uint64_t result = operand_bytes(problem).back(), read = footprint(problem) - result;
  if (!on_host(device) || written == 0) written = result;
  const std::string memory = on_host(device) ? describe(problem.operation).memory_roof : "copy";
  // Devices on the host's own cores share its roofs.
  const std::string where =
      on_host(device) ? std::to_string(device.facts().compute_units) : device.id();
  const std::string kind = arithmetic
                               ? std::string(name(problem.dtype))
                               : memory + std::to_string(read) + "+" + std::to_string(written);
  const auto [entry, fresh] = known.try_emplace(where + "/" + kind);
  Roof& roof = entry->second;
  if (!fresh && !again) return roof;
  roof.unit = arithmetic ? "flop/s" : "B/s";
  using Ways = std::vector<std::string>;
  for (const std::string& way : arithmetic ? Ways{"fma", "tensor"} : Ways{memory}) {
    const bool is_bound = again && on_host(device) && way == "fma" && has_roof(problem.dtype);
    const double value = is_bound     ? threads_of(device) * cpu_fma_rate(1, problem.dtype)
                         : arithmetic ? arithmetic_rate(device, problem.dtype, way)
                                      : memory_rate(device, way, read, written);
    if (!roof.what.empty() && value <= roof.value) continue;
    roof.value = value;
    roof.what = way;
  }
  return roof;
}

}  // namespace trine::bench
