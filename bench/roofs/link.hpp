// How fast the way between host and device is: pageable and pinned memory, each way, both at once.
#pragma once

#include <trine/trine.hpp>

#include <cstdint>

namespace trine::bench {

/// bytes/s by the host's clock, medians; `both` adds up the two ways.
struct LinkRates {
  uint64_t bytes = 0;  ///< of one copy
  double to_device = 0, to_host = 0;
  double to_device_pinned = 0, to_host_pinned = 0, both_pinned = 0;
};

/// Whether anything is copied between host and device.
bool has_link(const Device& device);

/// Copies of `bytes`, at least 3 and for about `seconds` each.
LinkRates link_rates(const Device& device, uint64_t bytes, double seconds);

}  // namespace trine::bench
