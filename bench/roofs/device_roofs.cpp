#include "device_roofs.hpp"

#include <fmt/format.h>
#include <trine/abi.h>

#include <algorithm>
#include <cstring>

#include "bench/stats/measure.hpp"
#include "roof.hpp"

namespace trine::bench {
namespace {

constexpr int kLaunches = 201;
constexpr uint64_t kLinkBytes = uint64_t{64} << 20;

/// The median time of `work` by the host's clock, of at least `count` times and for about
/// `seconds`.
double median_by_host(double seconds, int count, const std::function<void()>& work) {
  const auto once = [&] {
    const auto begin = Clock::now();
    work();
    return seconds_since(begin);
  };
  return measure(seconds, count, once).median();
}

/// By the device's smallest operation.
double launch_seconds(const Device& device) {
  Queue queue(device);
  const View one = vector(Buffer(device, 4), Dtype::b32, 1),
             other = vector(Buffer(device, 4), Dtype::b32, 1);
  return median_by_host(0, kLaunches, [&] {
    run(queue, Transpose{one, other});
    queue.wait();
  });
}

std::optional<double> known(double peak) { return peak > 0 ? std::optional(peak) : std::nullopt; }

std::optional<double> nominal(const Facts& facts, std::string_view unit, Dtype dtype) {
  if (unit != "fma") return std::nullopt;  // the facts are those of the plain units
  return dtype == Dtype::f32   ? known(facts.peak_f32)
         : dtype == Dtype::f64 ? known(facts.peak_f64)
                               : std::nullopt;
}

LinkRates rates_of_copies(const Device& device, uint64_t bytes, double seconds) {
  Queue queue(device), other(device);
  const auto count = int64_t(bytes);
  const View view = vector(Buffer(device, bytes), Dtype::b8, count);
  const View second = vector(Buffer(device, bytes), Dtype::b8, count);
  std::vector<char> pageable(bytes, 1);
  const Buffer pinned(device, bytes, Memory::pinned), back(device, bytes, Memory::pinned);
  std::memset(pinned.host(), 1, bytes);
  std::memset(back.host(), 1, bytes);
  const HostView slow = host_vector(pageable.data(), Dtype::b8, count),
                 fast = host_vector(pinned.host(), Dtype::b8, count),
                 returned = host_vector(back.host(), Dtype::b8, count);
  const auto rate = [&](auto&& from, auto&& to) {
    return double(bytes) / median_by_host(seconds, 3, [&] {
             copy(queue, from, to);
             queue.wait();
           });
  };
  LinkRates rates{bytes, rate(slow, view), rate(view, slow), rate(fast, view), rate(view, fast), 0};
  const double both = median_by_host(seconds, 3, [&] {
    copy(queue, fast, view);
    queue.flush();
    copy(other, second, returned);
    other.wait();
    queue.wait();
  });
  rates.both_pinned = 2 * double(bytes) / both;
  return rates;
}

std::optional<DeviceRoof> device_roof(const Device& device, std::string_view what,
                                      std::optional<Dtype> dtype) {
  const Facts& facts = device.facts();
  if (dtype == Dtype::f64 && !(facts.capabilities & TRINE_CAN_F64)) return std::nullopt;
  // Memory beyond any cache, and within what the device gives.
  const uint64_t walked = std::min(uint64_t{512} << 20, facts.max_buffer_bytes / 2);
  const uint64_t bytes = what == "copy" ? walked / 2 : walked;
  const double value =
      dtype ? arithmetic_rate(device, *dtype, what) : memory_rate(device, what, bytes, bytes);
  if (value <= 0) return std::nullopt;
  return DeviceRoof{device.id(),
                    std::string(what),
                    dtype,
                    "",
                    value,
                    dtype ? "flop/s" : "B/s",
                    dtype ? nominal(facts, what, *dtype) : known(facts.peak_bandwidth)};
}

}  // namespace

bool has_link(const Device& device) { return device.backend() != "cpu"; }

std::optional<LinkRates> link_rates(const Device& device, uint64_t bytes, double seconds) {
  return Control::step([=] { return rates_of_copies(device, bytes, seconds); });
}

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

std::optional<DeviceRoof> roof_in_a_step(const Device& device, std::string_view what,
                                         std::optional<Dtype> dtype) {
  return Control::step([device, named = std::string(what), dtype] {
           return device_roof(device, named, dtype);
         })
      .value_or(std::nullopt);
}

std::vector<DeviceRoof> device_roofs(const Device& device, Control& control) {
  std::vector<DeviceRoof> roofs;
  const auto add = [&](std::string_view what, std::optional<Dtype> dtype = std::nullopt) {
    if (control.stop()) return;
    control.show(fmt::format("{} {} {}", device.id(), what, dtype ? name(*dtype) : ""));
    if (std::optional<DeviceRoof> roof = roof_in_a_step(device, what, dtype))
      roofs.push_back(*std::move(roof));
  };
  for (const char* what : {"read", "copy"}) add(what);
  for (const char* unit : {"fma", "tensor"})
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) add(unit, dtype);
  if (has_link(device))
    if (const std::optional<LinkRates> rates = link_rates(device, kLinkBytes, 0.03))
      for (DeviceRoof& roof : link_roofs(device, *rates)) roofs.push_back(std::move(roof));
  if (control.stop()) return roofs;
  control.show(fmt::format("{} launch", device.id()));
  const std::optional<double> seconds = Control::step([device] { return launch_seconds(device); });
  if (seconds)
    roofs.push_back({device.id(), "launch", std::nullopt, "", *seconds, "s", std::nullopt});
  return roofs;
}

const DeviceRoof* find(const std::vector<DeviceRoof>& roofs, std::string_view what,
                       std::optional<Dtype> dtype) {
  for (const DeviceRoof& roof : roofs)
    if (roof.what == what && roof.dtype == dtype) return &roof;
  return nullptr;
}

}  // namespace trine::bench
