// The rungs of a device's ladders by their names, with their parameters settled.
#pragma once

#include "core/src/runtime/state.hpp"

namespace trine::detail {

struct Selected {
  const registry::Rung* rung = nullptr;
  trine_selection selection{};
  uint32_t index = 0;  ///< in the device's ladder
  std::string_view why;
};

/// The rung that `named` says, its parameters settled; throws when it isn't there.
Selected find_rung(const DeviceState& device, uint32_t operation, std::string_view named);

/// Where a pack's rung runs; `queue` may be nullptr (refuses, workspace_bytes).
trine_native native_of(const DeviceState& device, void* queue);

/// "name:parameter=value,…"
std::string rung_text(const registry::Rung& rung, const int32_t* values);

}  // namespace trine::detail
