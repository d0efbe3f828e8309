// The CPU's roofs are measured by plain loops on as many threads as the device has; a GPU's memory by
// the driver's own copy, its arithmetic by chains of multiply-adds.
#include "roof.hpp"

#include <algorithm>
#include <map>

#include "bench/stats/measure.hpp"
#include "cpu_roof.hpp"
#include "gpu_roof.hpp"

namespace trine::bench {
namespace {

/// Best of several copies in about 60 ms: a roof is what the device can do, not what it averages.
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
  double best = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < 200; ++i) {
    const Event start = queue.record();
    copy(queue, from, to);
    const Event stop = queue.record();
    queue.wait();
    best = std::max(best, 2.0 * double(half) / elapsed(start, stop));
    if (i >= 3 && seconds_since(begin) > 0.06) break;
  }
  return best;
}

/// flop/s of multiply-adds, and by which units.
double arithmetic_rate(const Device& device, Dtype dtype, std::string& what) {
  if (!on_host(device)) return gpu_fma_rate(device, dtype, what);
  return cpu_fma_rate(std::max(1, int(device.facts().compute_units)), dtype);
}

std::map<std::string, Roof>& known_roofs() {
  static std::map<std::string, Roof> known;
  return known;
}

}  // namespace

bool on_host(const Device& device) { return device.facts().kind == DeviceKind::cpu; }

double device_memory_rate(const Device& device, const std::string& what, uint64_t read,
                          uint64_t written) {
  if (!on_host(device)) return device_copy(device, read + written);
  const int threads = std::max(1, int(device.facts().compute_units));
  return what == "read" ? cpu_read_rate(threads, read) : cpu_copy_rate(threads, read, written);
}

void forget_roofs() { known_roofs().clear(); }

Roof roof_of(const Device& device, const Problem& problem, uint64_t written, bool again) {
  std::map<std::string, Roof>& known = known_roofs();
  const bool arithmetic = rated_by_flops(problem);
  const uint64_t result = operand_bytes(problem).back(), read = footprint(problem) - result;
  if (!on_host(device) || written == 0) written = result;
  const std::string memory =
      problem.operation == Operation::reduce && on_host(device) ? "read" : "copy";
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
  roof.what = arithmetic ? "fma" : memory;
  const double value = arithmetic ? arithmetic_rate(device, problem.dtype, roof.what)
                                  : device_memory_rate(device, memory, read, written);
  roof.value = std::max(roof.value, value);
  return roof;
}

}  // namespace trine::bench
