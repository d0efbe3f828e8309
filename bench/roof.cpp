// The CPU's roofs are measured by plain loops on as many threads as the device has, a GPU's copy by
// the driver's own copy, and its fma rate is the data sheet's, marked as such.
#include "roof.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "cpu_roof.hpp"

namespace trine::bench {
namespace {

using Clock = std::chrono::steady_clock;

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
    if (i >= 3 && std::chrono::duration<double>(Clock::now() - begin).count() > 0.06) break;
  }
  return best;
}

bool on_host(const Device& device) { return device.facts().kind == DeviceKind::cpu; }

double measured_memory(const Device& device, const std::string& what, uint64_t bytes) {
  if (!on_host(device)) return device_copy(device, bytes);
  const int threads = std::max(1, int(device.facts().compute_units));
  return what == "read" ? cpu_read_rate(threads, bytes) : cpu_copy_rate(threads, bytes);
}

double measured_fma(const Device& device, Dtype dtype) {
  const int threads = std::max(1, int(device.facts().compute_units));
  return cpu_fma_rate(threads, dtype);
}

}  // namespace

Roof roof_of(const Device& device, const Problem& problem) {
  static std::map<std::string, double> known;
  Roof roof;
  if (rated_by_flops(problem)) {
    roof.unit = "flop/s";
    roof.what = "fma";
    if (problem.dtype == Dtype::i32)
      return roof;  // no one instruction is the roof of a multiply-add
    roof.measured = on_host(device);
    if (!roof.measured) {
      roof.value = problem.dtype == Dtype::f64 ? device.facts().peak_f64 : device.facts().peak_f32;
      return roof;
    }
  } else {
    roof.unit = "B/s";
    roof.what = problem.operation == Operation::reduce && on_host(device) ? "read" : "copy";
  }
  const uint64_t bytes = rated_by_flops(problem) ? 0 : footprint(problem);
  // Devices on the host's own cores share its roofs.
  const std::string where =
      on_host(device) ? std::to_string(device.facts().compute_units) : device.id();
  const std::string dtype(rated_by_flops(problem) ? name(problem.dtype) : "");
  double& value = known[where + "/" + roof.what + "/" + dtype + "/" + std::to_string(bytes)];
  if (value == 0)
    value = rated_by_flops(problem) ? measured_fma(device, problem.dtype)
                                    : measured_memory(device, roof.what, bytes);
  roof.value = value;
  return roof;
}

}  // namespace trine::bench
