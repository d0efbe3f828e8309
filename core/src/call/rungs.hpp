// The rungs of a device's ladders by name and parameters, and the choice of the rung for a call.
#pragma once

#include "core/src/operations/operations.hpp"

namespace trine::detail {

struct Selected {
  const registry::Rung* rung = nullptr;
  trine_selection selection{};
  uint32_t index = 0;  ///< in the device's ladder
  std::string_view why;
};

/// The rung that `named` names, with its parameters; throws if there is none.
Selected find_rung(const DeviceState& device, uint32_t operation, std::string_view named);

/// The rung for a call. It is the first of these: the rung that `named` names ("name" or
/// "name:parameter=value,…"); that of the saved tuning table, if it fits and doesn't refuse; the
/// backend's choice. Throws if the named rung doesn't exist or refuses the call, and if no rung
/// takes it.
Selected select(const DeviceState& device, const Checked& call, std::string_view named);

/// The native handles for a pack's rung; `queue` may be nullptr (refuses, workspace_bytes).
trine_native native_of(const DeviceState& device, void* queue);

/// "name:parameter=value,…"
std::string rung_text(const registry::Rung& rung, const int32_t* values);

}  // namespace trine::detail
