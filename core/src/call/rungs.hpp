// The rungs of a device's ladders by their names, with their parameters set, and which of them
// runs a call.
#pragma once

#include "core/src/operations/operations.hpp"

namespace trine::detail {

struct Selected {
  const registry::Rung* rung = nullptr;
  trine_selection selection{};
  uint32_t index = 0;  ///< in the device's ladder
  std::string_view why;
};

/// The rung that `named` says, its parameters set; throws when it isn't there.
Selected find_rung(const DeviceState& device, uint32_t operation, std::string_view named);

/// In order: the rung that `named` says ("name" or "name:parameter=value,…"); the saved tuning
/// table's, where it fits and doesn't refuse; the backend's choice. Throws when what was named
/// isn't there or refuses the call, and when nothing takes it.
Selected select(const DeviceState& device, const Checked& call, std::string_view named);

/// Where a pack's rung runs; `queue` may be nullptr (refuses, workspace_bytes).
trine_native native_of(const DeviceState& device, void* queue);

/// "name:parameter=value,…"
std::string rung_text(const registry::Rung& rung, const int32_t* values);

}  // namespace trine::detail
