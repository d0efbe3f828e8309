// Which rung runs a call: the one place where that is decided.
#pragma once

#include "core/src/operations/operations.hpp"
#include "rungs.hpp"

namespace trine::detail {

/// In order: the rung that `named` says ("name" or "name:parameter=value,…"); the saved tuning table's,
/// where it fits and doesn't refuse; the backend's choice. Throws when what was named isn't there or
/// refuses the call, and when nothing takes it.
Selected select(const DeviceState& device, const Checked& call, std::string_view named);

}  // namespace trine::detail
