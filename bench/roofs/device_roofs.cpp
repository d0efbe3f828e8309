#include "device_roofs.hpp"

#include <fmt/format.h>
#include <trine/abi.h>

#include <algorithm>

#include "bench/stats/measure.hpp"
#include "cpu_roof.hpp"
#include "gpu_roof.hpp"
#include "roof.hpp"

namespace trine::bench {
namespace {

constexpr int kLaunches = 201;
constexpr uint64_t kLinkBytes = uint64_t{64} << 20;

int threads_of(const Device& device) { return std::max(1, int(device.facts().compute_units)); }

/// Beyond any cache, and within what the device gives.
uint64_t walked(const Device& device) {
  return std::min(uint64_t{512} << 20, device.facts().max_buffer_bytes / 2);
}

double memory_rate(const Device& device, std::string_view what) {
  const uint64_t bytes = walked(device);
  if (what == "copy") return device_memory_rate(device, "copy", bytes / 2, bytes / 2);
  if (!on_host(device)) return gpu_memory_rate(device, what, bytes);
  return what == "read" ? cpu_read_rate(threads_of(device), bytes)
                        : cpu_write_rate(threads_of(device), bytes);
}

double arithmetic_rate(const Device& device, Dtype dtype, std::string_view unit) {
  if (!on_host(device)) return gpu_unit_rate(device, dtype, unit);
  return unit == "fma" ? cpu_fma_rate(threads_of(device), dtype) : 0;
}

/// The cpu has no empty kernel: its smallest operation stands for it.
double launch_seconds(const Device& device) {
  if (device.backend() != "cpu")
    if (const double seconds = gpu_launch_seconds(device, kLaunches); seconds > 0) return seconds;
  Queue queue(device);
  const View one = vector(Buffer(device, 4), Dtype::b32, 1),
             other = vector(Buffer(device, 4), Dtype::b32, 1);
  return measure("launch", 0, kLaunches,
                 [&] {
                   const auto begin = Clock::now();
                   run(queue, Transpose{one, other});
                   queue.wait();
                   return seconds_since(begin);
                 })
      .median();
}

std::optional<double> known(double peak) { return peak > 0 ? std::optional(peak) : std::nullopt; }

std::optional<double> nominal(const Facts& facts, std::string_view unit, Dtype dtype) {
  if (unit != "fma") return std::nullopt;  // the facts are those of the plain units
  return dtype == Dtype::f32   ? known(facts.peak_f32)
         : dtype == Dtype::f64 ? known(facts.peak_f64)
                               : std::nullopt;
}

}  // namespace

nlohmann::ordered_json to_json(const DeviceRoof& roof) {
  using nlohmann::ordered_json;
  return {{"device", roof.device},
          {"what", roof.what},
          {"dtype", roof.dtype ? ordered_json(name(*roof.dtype)) : ordered_json()},
          {"memory", roof.memory.empty() ? ordered_json() : ordered_json(roof.memory)},
          {"value", roof.value},
          {"unit", roof.unit},
          {"nominal", roof.nominal ? ordered_json(*roof.nominal) : ordered_json()}};
}

std::vector<DeviceRoof> link_roofs(const Device& device, const LinkRates& rates) {
  const auto roof = [&](const char* what, const char* memory, double value) {
    return DeviceRoof{device.id(), what, std::nullopt, memory, value, "B/s", std::nullopt};
  };
  return {roof("to_device", "pageable", rates.to_device),
          roof("to_device", "pinned", rates.to_device_pinned),
          roof("to_host", "pageable", rates.to_host),
          roof("to_host", "pinned", rates.to_host_pinned)};
}

std::optional<DeviceRoof> device_roof(const Device& device, std::string_view what,
                                      std::optional<Dtype> dtype) {
  const Facts& facts = device.facts();
  if (dtype == Dtype::f64 && !(facts.capabilities & TRINE_CAN_F64)) return std::nullopt;
  const double value = dtype ? arithmetic_rate(device, *dtype, what) : memory_rate(device, what);
  if (value <= 0) return std::nullopt;
  return DeviceRoof{device.id(),
                    std::string(what),
                    dtype,
                    "",
                    value,
                    dtype ? "flop/s" : "B/s",
                    dtype ? nominal(facts, what, *dtype) : known(facts.peak_bandwidth)};
}

std::vector<DeviceRoof> device_roofs(const Device& device, Control& control) {
  std::vector<DeviceRoof> roofs;
  const auto add = [&](std::string_view what, std::optional<Dtype> dtype = std::nullopt) {
    if (control.stop()) return;
    control.show(fmt::format("{} {} {}", device.id(), what, dtype ? name(*dtype) : ""));
    if (std::optional<DeviceRoof> roof = device_roof(device, what, dtype))
      roofs.push_back(*std::move(roof));
  };
  for (const char* what : {"read", "write", "copy"}) add(what);
  for (const char* unit : {"fma", "tensor"})
    for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::i32}) add(unit, dtype);
  if (has_link(device) && !control.stop())
    for (DeviceRoof& roof : link_roofs(device, link_rates(device, kLinkBytes, 0.03)))
      roofs.push_back(std::move(roof));
  if (control.stop()) return roofs;
  control.show(fmt::format("{} launch", device.id()));
  if (const double seconds = launch_seconds(device); seconds > 0)
    roofs.push_back({device.id(), "launch", std::nullopt, "", seconds, "s", std::nullopt});
  return roofs;
}

const DeviceRoof* find(const std::vector<DeviceRoof>& roofs, std::string_view what,
                       std::optional<Dtype> dtype) {
  for (const DeviceRoof& roof : roofs)
    if (roof.what == what && roof.dtype == dtype) return &roof;
  return nullptr;
}

}  // namespace trine::bench
