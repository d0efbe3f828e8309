// Everything that a device can do at best, measured and beside the data sheet's figures.
#pragma once

#include <trine/trine.hpp>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/ui/control.hpp"

namespace trine::bench {

/// bytes/s by the host's clock, medians; `both` adds up the two ways.
struct LinkRates {
  uint64_t bytes = 0;  ///< of one copy
  double to_device = 0, to_host = 0;
  double to_device_pinned = 0, to_host_pinned = 0, both_pinned = 0;
};

/// Whether anything is copied between host and device.
bool has_link(const Device& device);

/// Copies of `bytes`, at least 3 and for about `seconds` each, in a step (Control::step); none
/// where the work ended before.
std::optional<LinkRates> link_rates(const Device& device, uint64_t bytes, double seconds);

struct DeviceRoof {
  std::string device, what;  ///< read, copy, fma, tensor, to_device, to_host, launch
  std::optional<Dtype> dtype;
  std::string memory;  ///< of the link: "pageable", "pinned"; else ""
  double value = 0;
  std::string unit;               ///< "B/s", "flop/s", "s"
  std::optional<double> nominal;  ///< the data sheet's, where the device tells what it takes
};

nlohmann::ordered_json to_json(const DeviceRoof& roof);

/// The link's four, of copies as large as `rates` has them.
std::vector<DeviceRoof> link_roofs(const Device& device, const LinkRates& rates);

/// "read" or "copy" of memory, "fma" or "tensor" of a dtype, in a step (Control::step);
/// none where the device hasn't such, or the work ended before it was measured.
std::optional<DeviceRoof> roof_in_a_step(const Device& device, std::string_view what,
                                         std::optional<Dtype> dtype = std::nullopt);

/// Memory, arithmetic by dtype, link and launch; what `control` ends early is left out.
std::vector<DeviceRoof> device_roofs(const Device& device, Control& control);

/// The one of that kind and dtype, or null.
const DeviceRoof* find(const std::vector<DeviceRoof>& roofs, std::string_view what,
                       std::optional<Dtype> dtype = std::nullopt);

}  // namespace trine::bench
